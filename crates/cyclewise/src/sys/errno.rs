//! The calling thread's errno, without std.
//!
//! # Safety
//! 1. `__errno_location` always gives a valid pointer to an integer of the calling thread.
#![expect(unsafe_code, reason = "errno is behind a foreign function")]

/// What the last failing call of this thread left.
pub(super) fn last() -> i32 {
    // SAFETY: takes nothing (Invariant 1).
    let at = unsafe { libc::__errno_location() };
    // SAFETY: valid, and only this thread writes it (Invariant 1).
    unsafe { *at }
}

/// Does `run`, and leaves errno as it was: for what may be done in a signal handler, or where nobody expects a call.
pub(super) fn kept<R>(run: impl FnOnce() -> R) -> R {
    let before = last();
    let result = run();
    // SAFETY: takes nothing (Invariant 1).
    let at = unsafe { libc::__errno_location() };
    // SAFETY: valid, and only this thread writes it (Invariant 1).
    unsafe { *at = before };
    result
}
