//! The calling thread's errno.
//!
//! # Safety
//! 1. `__errno_location` gives a valid pointer to an integer that only the calling thread uses.
#![expect(unsafe_code, reason = "errno is behind a foreign function")]

/// What the last failing call of this thread left.
pub(crate) fn get() -> i32 {
    // SAFETY: Invariant 1.
    unsafe { *location() }
}

/// Sets errno, for functions that C calls.
pub(crate) fn set(errno: i32) {
    // SAFETY: Invariant 1.
    unsafe { *location() = errno };
}

/// Does `run`, and leaves errno as it was: for signal handlers, and for functions that C's callers do not expect to set it.
pub(crate) fn preserve<R>(run: impl FnOnce() -> R) -> R {
    let before = get();
    let result = run();
    set(before);
    result
}

fn location() -> *mut i32 {
    // SAFETY: takes nothing (Invariant 1).
    unsafe { libc::__errno_location() }
}
