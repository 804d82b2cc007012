//! The process: its id, and its end.
//!
//! # Safety
//! 1. abort(3), getpid(2) and write(2) are async-signal-safe; the first two take nothing.
#![expect(unsafe_code, reason = "abort, getpid, write")]

/// Ends the process with SIGABRT, and writes `why` to its standard error, as far as that can be written.
pub(crate) fn abort_saying(why: &[u8]) -> ! {
    // SAFETY: reads as many bytes as there are.
    unsafe { libc::write(libc::STDERR_FILENO, why.as_ptr().cast(), why.len()) };
    abort()
}

/// Ends the process with SIGABRT.
pub(crate) fn abort() -> ! {
    // SAFETY: Invariant 1.
    unsafe { libc::abort() }
}

/// The pid, which a child of fork does not share; a system call.
pub(crate) fn id() -> u32 {
    // SAFETY: Invariant 1.
    unsafe { libc::getpid() }.cast_unsigned()
}
