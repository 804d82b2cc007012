//! sigaction(2), signal(2), raise(3): handlers, and a signal to the calling thread.
//!
//! # Safety
//! 1. The kernel reads or writes one `sigaction`, for which all zeroes is a valid value.
#![expect(unsafe_code, reason = "sigaction, raise")]

use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::{io, ptr};

/// Runs `handler` on `signal`, with SA_RESTART, SA_ONSTACK and `flags`.
///
/// # Safety
/// The handler may only make async-signal-safe calls.
///
/// # Errors
/// EINVAL for a signal that cannot be handled.
pub unsafe fn handle(signal: c_int, handler: extern "C" fn(c_int), flags: c_int) -> io::Result<()> {
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: Safety 1.
    let action = unsafe { action.assume_init_mut() };
    action.sa_sigaction = handler as *const () as usize;
    action.sa_flags = libc::SA_RESTART | libc::SA_ONSTACK | flags;
    // SAFETY: what the handler does is the caller's promise.
    match unsafe { libc::sigaction(signal, action, ptr::null_mut()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Whether `signal` has its default action: no handler, and not ignored.
pub fn has_default_action(signal: c_int) -> bool {
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: only reports (Safety 1).
    let rc = unsafe { libc::sigaction(signal, ptr::null(), action.as_mut_ptr()) };
    // SAFETY: zeroed is valid (Safety 1).
    rc == 0 && unsafe { action.assume_init() }.sa_sigaction == libc::SIG_DFL
}

/// Gives `signal` its default action.
pub fn set_default(signal: c_int) {
    // SAFETY: SIG_DFL installs no code of ours.
    unsafe { libc::signal(signal, libc::SIG_DFL) };
}

/// Sends `signal` to the calling thread. Unless it is blocked, it is delivered before this returns.
#[inline]
pub fn raise(signal: c_int) {
    // SAFETY: takes a number; what a handler may do is the promise of whoever set it.
    unsafe { libc::raise(signal) };
}
