//! `struct sigevent`: how a program is notified.
//!
//! # Safety
//! 1. The caller guarantees the type of what it points to; the function is unsafe for that.
#![expect(unsafe_code, reason = "a field of a C structure")]

use core::ffi::c_void;

/// Whether the `struct sigevent` at `event` asks for a notification by a new thread.
///
/// # Safety
/// `event` is null or points to a `struct sigevent`.
pub(crate) unsafe fn notifies_by_thread(event: *const c_void) -> bool {
    let event = event.cast::<libc::sigevent>();
    if event.is_null() {
        return false;
    }
    // SAFETY: the caller's contract (Invariant 1); one field is read.
    let notify = unsafe { (*event).sigev_notify };
    notify == libc::SIGEV_THREAD
}
