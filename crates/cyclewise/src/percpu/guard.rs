//! [`Guard`]: a word that says whether a slot's own threads may change the words beside it.
//!
//! # States
//! 0 while they may, the initial state; otherwise another thread may. [`Slot::stop`](super::Slot::stop) sets it to 1 and
//! waits for sequences in progress; the drop of its result sets it to 0.
//!
//! # Invariants
//! 1. Only `percpu` changes a guard: safe code outside can stop a slot at a guard of its own, but cannot store to one.
//!
//! # Safety
//! 1. A guard is one atomic word. All zeroes are a valid value.
#![expect(unsafe_code, reason = "zeroes are a value")]

use super::word::Zeroed;
use core::fmt;
use core::sync::atomic::{AtomicU64, Ordering};

/// A guard, initially open. It is a word of 64 bits; all zeroes are an open guard.
///
/// Users cannot store to it:
///
/// ```compile_fail
/// cyclewise::percpu::NEVER.store(1, std::sync::atomic::Ordering::Relaxed);
/// ```
///
/// # Examples
/// ```
/// use cyclewise::percpu::{Cpu, Guard, Slot};
///
/// let guard = Guard::new();
/// // An error where the kernel has no such barrier.
/// if let Ok(Some(stopped)) = Slot::from_id(0).unwrap().stop::<Cpu>(&guard) {
///     // Until `stopped` is dropped, sequences of CPU 0 that test this guard change nothing.
///     assert_eq!(stopped.slot().number(), 0);
/// }
/// ```
#[repr(transparent)]
pub struct Guard(AtomicU64);

/// The guard of words that are never changed from outside: no slot can be stopped at it.
pub static NEVER: Guard = Guard::new();

// SAFETY: all zeroes is an open guard, which needs no drop.
unsafe impl Zeroed for Guard {}

impl Guard {
    /// An open guard.
    pub const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

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
        // Relaxed: only printed.
        let open = self.0.load(Ordering::Relaxed) == 0;
        f.debug_struct("Guard").field("open", &open).finish()
    }
}
