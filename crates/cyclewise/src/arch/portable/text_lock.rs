//! The words of the text lock where no text is written: a static, because copies of this crate share nothing then.

use core::sync::atomic::AtomicU64;

pub(crate) struct Words {
    pub(crate) owner: AtomicU64,
    pub(crate) generation: [AtomicU64; 3],
}

pub(crate) fn words() -> &'static Words {
    static WORDS: Words = Words {
        owner: AtomicU64::new(0),
        generation: [const { AtomicU64::new(0) }; 3],
    };
    &WORDS
}
