//! Cancellation of the calling thread, pthread_cancel(3), held off.
//!
//! # Safety
//! 1. The C library's `pthread_setcancelstate` writes one integer where it is given a place. It only changes a word of the thread,
//!    also in a signal handler.
#![expect(unsafe_code, reason = "pthread_setcancelstate")]

use core::ffi::c_int;

unsafe extern "C" {
    fn pthread_setcancelstate(state: c_int, before: *mut c_int) -> c_int;
}

const DISABLE: c_int = 1; // PTHREAD_CANCEL_DISABLE of glibc and of musl

/// Does `run`, in which this thread is not cancelled.
pub(super) fn held_off(run: impl FnOnce()) {
    let mut before = DISABLE;
    // SAFETY: room for one integer (Safety 1).
    unsafe { pthread_setcancelstate(DISABLE, &raw mut before) };
    run();
    // SAFETY: room for one integer (Safety 1).
    unsafe { pthread_setcancelstate(before, &raw mut before) };
}
