//! Proofs that the calling thread holds text locks, as functions ask for them.

use super::owner_word;
use crate::arch::text_lock::Words;
use crate::error::Refusal;
use crate::sys::fork_generation;
use core::marker::PhantomData;

/// Proof that the calling thread holds this link unit's text lock, which dropping it releases: see [`text_lock`](super::text_lock).
pub(crate) struct TextGuard(pub(super) PhantomData<*const ()>);

/// Proof that the calling thread holds another link unit's lock; releases it on drop. An owner lost in a fork is put back: that
/// unit's copy of the crate settles what it left.
pub(crate) struct OtherGuard {
    words: &'static Words,
    found: u64,
}

impl OtherGuard {
    /// Takes the lock, or gives up where it is taken and `wanted` returns false.
    ///
    /// # Errors
    /// [`Refusal::Busy`] (Invariant 4 of `text_lock`).
    pub(crate) fn take(words: &'static Words, wanted: impl Fn() -> bool) -> Result<Option<Self>, Refusal> {
        let process = fork_generation::current_in(&words.generation);
        let found = owner_word::replace_while(&words.owner, process, wanted)?;
        Ok(found.map(|found| Self { words, found }))
    }

    /// A lock that this thread took before.
    #[allow(dead_code, reason = "only a mode writes to other units")]
    pub(crate) fn taken(words: &'static Words, found: u64) -> Self {
        Self { words, found }
    }

    /// The owner that it replaced; 0 is none.
    pub(crate) fn found(&self) -> u64 {
        self.found
    }
}

impl Drop for OtherGuard {
    fn drop(&mut self) {
        owner_word::put_back(&self.words.owner, self.found);
    }
}
