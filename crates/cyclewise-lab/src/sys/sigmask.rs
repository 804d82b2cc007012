//! The calling thread's signal mask, and a signal to itself.
//!
//! # Safety
//! 1. The kernel reads or writes one set of signals.
#![expect(unsafe_code, reason = "pthread_sigmask, raise")]

use std::mem::MaybeUninit;

/// A signal that nobody sends a program of this kind.
pub const OURS: i32 = libc::SIGUSR2;

/// A set of signals.
#[derive(Clone, Copy)]
pub struct Set(libc::sigset_t);

impl Set {
    /// Every signal.
    pub fn every() -> Self {
        let mut set = MaybeUninit::<libc::sigset_t>::zeroed();
        // SAFETY: Invariant 1.
        unsafe { libc::sigfillset(set.as_mut_ptr()) };
        // SAFETY: filled.
        Self(unsafe { set.assume_init() })
    }

    /// Blocks these and no others; what was blocked before. Changing the mask with a valid set cannot fail.
    #[inline]
    pub fn swap(&self) -> Self {
        let mut old = MaybeUninit::<libc::sigset_t>::zeroed();
        // SAFETY: Invariant 1.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.0, old.as_mut_ptr()) };
        // SAFETY: filled.
        Self(unsafe { old.assume_init() })
    }
}

/// Sends [`OURS`] to the calling thread. It has been delivered when this returns, where it can be.
#[inline]
pub fn raise_ours() {
    // SAFETY: takes a number; whoever calls this has a handler.
    unsafe { libc::raise(OURS) };
}
