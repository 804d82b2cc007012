//! The words of the lock where no text is written: a static, because copies of this crate then share nothing.

use core::sync::atomic::{AtomicI32, AtomicU32};

/// See `patch::lock` for what they mean.
pub(crate) struct Words {
    /// Thread that holds it, or 0.
    pub(crate) owner: AtomicI32,
    /// How often it holds it.
    pub(crate) depth: AtomicU32,
}

/// The words.
pub(crate) fn words() -> &'static Words {
    static WORDS: Words = Words {
        owner: AtomicI32::new(0),
        depth: AtomicU32::new(0),
    };
    &WORDS
}
