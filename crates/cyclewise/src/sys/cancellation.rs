//! Thread cancellation, pthread_cancel(3), held off while the C library is called.
//!
//! A thread that was cancelled ends in the next cancellation point that it calls: open, read, write, close, a sleep. It ends by
//! unwinding, which must not pass through this crate: locks would stay held, and C's callers are promised that nothing unwinds. So
//! every wrapper of such a function calls it inside [`held_off`]; the thread ends in the next point that the program itself calls.
//!
//! This is for deferred cancellation. A thread with PTHREAD_CANCEL_ASYNCHRONOUS may call no function that POSIX does not name
//! as async-cancel-safe, and so none of this crate's.
//!
//! # Cost
//! Two calls that change a word of the thread, and no system call. They are async-signal-safe (POSIX.1-2024; glibc and musl have
//! always been).
//!
//! # References
//! pthreads(7), "Cancellation points"; pthread_setcancelstate(3).
//!
//! # Safety
//! 1. The C library writes one integer where it is given a place, and nothing without one.
#![expect(unsafe_code, reason = "pthread_setcancelstate")]

use core::ffi::c_int;
use core::ptr::null_mut;

unsafe extern "C" {
    // The crate libc has it for other systems only.
    fn pthread_setcancelstate(state: c_int, before: *mut c_int) -> c_int;
}

const DISABLE: c_int = 1; // PTHREAD_CANCEL_DISABLE of glibc and of musl

/// Does `run`, in which this thread is not cancelled.
pub(crate) fn held_off<R>(run: impl FnOnce() -> R) -> R {
    let mut before = DISABLE;
    // SAFETY: room for one integer (Invariant 1).
    unsafe { pthread_setcancelstate(DISABLE, &raw mut before) };
    let result = run();
    // SAFETY: no place (Invariant 1).
    unsafe { pthread_setcancelstate(before, null_mut()) };
    result
}
