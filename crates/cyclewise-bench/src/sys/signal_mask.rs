//! pthread_sigmask(3): the calling thread's signal mask.
//!
//! # Safety
//! 1. The kernel reads or writes one set of signals.
#![expect(unsafe_code, reason = "sigfillset, pthread_sigmask")]

use std::mem::MaybeUninit;

#[derive(Clone, Copy)]
pub struct Set(libc::sigset_t);

impl Set {
    pub fn every() -> Self {
        let mut set = MaybeUninit::<libc::sigset_t>::zeroed();
        // SAFETY: Invariant 1.
        unsafe { libc::sigfillset(set.as_mut_ptr()) };
        // SAFETY: filled.
        Self(unsafe { set.assume_init() })
    }

    /// Blocks these signals and no others, and returns the previous mask. Cannot fail with a valid set.
    #[inline]
    pub fn swap(&self) -> Self {
        let mut old = MaybeUninit::<libc::sigset_t>::zeroed();
        // SAFETY: Invariant 1.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.0, old.as_mut_ptr()) };
        // SAFETY: filled.
        Self(unsafe { old.assume_init() })
    }
}
