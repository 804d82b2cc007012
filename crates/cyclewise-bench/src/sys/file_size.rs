//! SIGXFSZ: what a write beyond `ulimit -f` sends, and by which the kernel ends a program that does not handle it.
//!
//! # Safety
//! The handler does nothing.
#![expect(unsafe_code, reason = "a signal handler")]

use super::signal;

extern "C" fn handler(_: libc::c_int) {}

/// From now on such a write fails with EFBIG. A handler does not outlast exec, as an ignored signal would: programs that are
/// started meet the limit as always.
pub fn refuse_beyond_limit() {
    if signal::has_default_action(libc::SIGXFSZ) {
        // SAFETY: the handler does nothing. If this fails, the signal ends the program, as before.
        let _ = unsafe { signal::handle(libc::SIGXFSZ, handler, 0) };
    }
}
