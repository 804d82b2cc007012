//! The calling thread: its id, its errno.
//!
//! # Safety
//! 1. `__errno_location` gives the calling thread's own errno, valid as long as the thread runs.
#![expect(unsafe_code, reason = "errno, a field of a C structure")]

#[cfg(target_env = "gnu")]
use core::ffi::c_void;

/// The kernel's id of the calling thread.
#[cfg(target_env = "gnu")]
pub(crate) fn id() -> i32 {
    super::task::current_tid()
}

/// The calling thread's errno.
pub(crate) fn errno() -> i32 {
    // SAFETY: Invariant 1.
    let place = unsafe { libc::__errno_location() };
    // SAFETY: Invariant 1.
    unsafe { *place }
}

/// Sets the calling thread's errno, for functions that C calls.
pub(crate) fn set_errno(errno: i32) {
    // SAFETY: Invariant 1.
    let place = unsafe { libc::__errno_location() };
    // SAFETY: Invariant 1.
    unsafe { *place = errno };
}

/// Whether the `struct sigevent` at `event` asks for a notification by a new thread.
///
/// # Safety
/// `event` is null or points to a `struct sigevent`.
#[cfg(target_env = "gnu")]
pub(crate) unsafe fn notifies_by_thread(event: *const c_void) -> bool {
    let event = event.cast::<libc::sigevent>();
    if event.is_null() {
        return false;
    }
    // SAFETY: the caller's contract; one field is read.
    let notify = unsafe { (*event).sigev_notify };
    notify == libc::SIGEV_THREAD
}
