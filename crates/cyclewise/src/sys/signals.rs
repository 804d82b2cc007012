//! All signals of the calling thread, held back for a while.
//!
//! # Safety
//! 1. The kernel reads or writes one `sigset_t` or `sigaction` whose size C's library knows.
#![expect(unsafe_code, reason = "sigfillset, pthread_sigmask, sigaction")]

use core::mem::MaybeUninit;

/// While this lives no handler runs on this thread, and on drop the old mask is back.
///
/// What is left are SIGKILL, SIGSTOP, faults, and the two signals with which C's library cancels threads and sets ids.
pub(crate) struct Blocked(libc::sigset_t);

impl Blocked {
    /// Blocks them. Changing the mask with a valid set cannot fail.
    pub(crate) fn all() -> Self {
        let mut every = MaybeUninit::<libc::sigset_t>::zeroed();
        // SAFETY: Invariant 1.
        unsafe { libc::sigfillset(every.as_mut_ptr()) };
        let mut old = MaybeUninit::<libc::sigset_t>::zeroed();
        // SAFETY: Invariant 1.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, every.as_ptr(), old.as_mut_ptr()) };
        // SAFETY: all zeroes is a valid, empty set, and the kernel filled it.
        Self(unsafe { old.assume_init() })
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        // SAFETY: Invariant 1.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.0, core::ptr::null_mut()) };
    }
}

/// Sets a handler, for tests.
#[cfg(all(
    test,
    feature = "std",
    target_arch = "x86_64",
    target_os = "linux",
    not(any(miri, loom))
))]
pub(crate) fn handle(signal: i32, handler: extern "C" fn(i32)) {
    let action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: all zeroes is a valid structure.
    let mut action = unsafe { action.assume_init() };
    action.sa_sigaction = handler as *const () as usize;
    // SAFETY: Invariant 1; a function lives as long as the program.
    let rc = unsafe { libc::sigaction(signal, &raw const action, core::ptr::null_mut()) };
    assert_eq!(rc, 0);
}
