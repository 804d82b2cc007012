//! The process: its number, and its end.
//!
//! # Safety
//! 1. abort(3) takes nothing, may be called anywhere, signal handlers included, and does not return.
//! 2. getpid(2) takes nothing, may be called anywhere and always succeeds.
#![expect(unsafe_code, reason = "abort and getpid are foreign functions; core has none")]

/// Ends the process with SIGABRT.
pub(crate) fn abort() -> ! {
    // SAFETY: Invariant 1.
    unsafe { libc::abort() }
}

/// The number of the process, which a child of fork does not share; a system call.
#[cfg(target_os = "linux")]
pub(crate) fn id() -> u32 {
    // SAFETY: Invariant 2.
    unsafe { libc::getpid() }.cast_unsigned()
}
