//! The process: its number, and its end.
//!
//! # Safety
//! 1. abort(3) takes nothing, may be called anywhere, signal handlers included, and does not return.
//! 2. getpid(2) takes nothing, may be called anywhere and always succeeds.
#![expect(unsafe_code, reason = "abort and getpid are foreign functions; core has none")]

/// Ends the process with SIGABRT, and says why on its standard error, as far as that can be written.
#[cfg(all(feature = "std", target_os = "linux", target_env = "gnu"))]
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

/// The number of the process, which a child of fork does not share; a system call.
#[cfg(target_os = "linux")]
pub(crate) fn id() -> u32 {
    // SAFETY: Invariant 2.
    unsafe { libc::getpid() }.cast_unsigned()
}
