//! Calls of the program's own functions, which return.
//!
//! One that leaves in another way would unwind through this library: what that has locked or counted would stay so. A cancelled
//! thread is not cancelled during the call, since a callback may well call read(2) or write to a log. pthread_exit(3) and C++
//! exceptions end the process with a line that says so. longjmp(3) is not seen.
//!
//! # Safety
//! 1. The C library's `pthread_setcancelstate` writes one integer where it is given a place. It only changes a word of the thread,
//!    also in a signal handler.
#![expect(unsafe_code, reason = "pthread_setcancelstate")]

use super::stop::stop;
use core::ffi::c_int;

unsafe extern "C" {
    fn pthread_setcancelstate(state: c_int, before: *mut c_int) -> c_int;
}

const DISABLE: c_int = 1; // PTHREAD_CANCEL_DISABLE of glibc and of musl
const LINE: &[u8] =
    b"cyclewise: a callback left by pthread_exit or an exception: callbacks return; the process is aborted\n";

/// Does `run`, which calls a function of the program. The function is called as "C-unwind", so that how it leaves can be seen.
pub(crate) fn call(run: impl FnOnce()) {
    let returns = Returns;
    let mut before = DISABLE;
    // SAFETY: room for one integer (Safety 1).
    unsafe { pthread_setcancelstate(DISABLE, &raw mut before) };
    run();
    // SAFETY: room for one integer (Safety 1).
    unsafe { pthread_setcancelstate(before, &raw mut before) };
    core::mem::forget(returns);
}

/// Dropped only where something unwinds through it.
struct Returns;

impl Drop for Returns {
    fn drop(&mut self) {
        stop(LINE);
    }
}
