//! The words of the text lock where no text is written: a static, because copies of this crate share nothing then.

use core::sync::atomic::AtomicU64;

/// All zero at first.
pub(crate) struct Words {
    /// The owner of the lock; see `patch::owner_word`.
    pub(crate) owner: AtomicU64,
    /// Used by `sys::fork_generation`.
    pub(crate) generation: [AtomicU64; 3],
}

/// The words.
pub(crate) fn words() -> &'static Words {
    static WORDS: Words = Words {
        owner: AtomicU64::new(0),
        generation: [const { AtomicU64::new(0) }; 3],
    };
    &WORDS
}
