//! [`Guard`]: the word that says whether a slot's own threads may change the words beside it.
//!
//! # States
//! 0 while they may, which is how it begins; else somebody else may. [`Slot::stop`](super::Slot::stop) sets it to 1 and
//! waits for what is under way, and dropping what that returned sets it to 0.
//!
//! # Invariants
//! 1. A guard is changed in this module alone: safe code outside can stop a slot at a guard of its own, and cannot store to one.
//!
//! # Safety
//! 1. A guard is one atomic word, of which all zeroes are a value.
#![expect(unsafe_code, reason = "zeroes are a value")]

use super::word::Zeroed;
use core::fmt;
use core::sync::atomic::{AtomicU64, Ordering};

/// A guard, open at first. It is a word of 64 bits, and all zeroes is one that is open.
///
/// Who shares one cannot store to it:
///
/// ```compile_fail
/// cyclewise::percpu::NEVER.store(1, std::sync::atomic::Ordering::Relaxed);
/// ```
#[repr(transparent)]
pub struct Guard(AtomicU64);

/// The guard of words that nobody changes from outside: nothing is stopped at it, for it is everybody's.
pub static NEVER: Guard = Guard::new();

// SAFETY: all zeroes is an open guard, which needs no drop.
unsafe impl Zeroed for Guard {}

impl Guard {
    /// One that is open.
    pub const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// The word.
    #[inline(always)]
    pub(super) fn word(&self) -> &AtomicU64 {
        &self.0
    }
}

impl Default for Guard {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Relaxed: for people.
        let open = self.0.load(Ordering::Relaxed) == 0;
        f.debug_struct("Guard").field("open", &open).finish()
    }
}
