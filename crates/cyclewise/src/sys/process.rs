//! The end of the process.
//!
//! # Safety
//! 1. abort(3) takes nothing, may be called anywhere, signal handlers included, and does not return.
#![expect(unsafe_code, reason = "abort is a foreign function; core has none")]

/// Ends the process with SIGABRT.
pub(crate) fn abort() -> ! {
    // SAFETY: Invariant 1.
    unsafe { libc::abort() }
}
