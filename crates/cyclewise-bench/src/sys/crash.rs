//! sigaction(2), atexit(3), _exit(2), write(2): how code of another compiler ends the process, while it runs.
//!
//! The handler tells which signal came and sleeps, so that another thread ends the process. Where nobody does, because the crash has
//! left a lock taken, or because there is no such thread, the signal's default action does.
//!
//! # Safety
//! 1. The handler loads and stores atomics, wakes a thread by futex(2), sleeps by nanosleep(2) and calls write(2), all of which a
//!    signal handler may do.
//! 2. What is called at exit(3) does not unwind.
#![expect(unsafe_code, reason = "a signal handler, atexit, _exit")]

use super::signal;
use std::ffi::c_int;
use std::sync::OnceLock;
use std::time::Duration;

pub const SIGNALS: [(c_int, &str); 6] = [
    (libc::SIGSEGV, "SIGSEGV"),
    (libc::SIGBUS, "SIGBUS"),
    (libc::SIGILL, "SIGILL"),
    (libc::SIGFPE, "SIGFPE"),
    (libc::SIGTRAP, "SIGTRAP"),
    (libc::SIGABRT, "SIGABRT"),
];

/// A thread that writes a record and its tables needs less.
pub const PATIENCE: Duration = Duration::from_secs(20);

static TELL: OnceLock<fn(c_int)> = OnceLock::new();

/// From now on the handler tells by this function, which may do what a signal handler may. Without one it says itself what happened.
pub fn tell_by(tell: fn(c_int)) {
    // A second one is the same.
    let _ = TELL.set(tell);
}

/// From now on a crash is told.
pub fn listen() {
    for (number, _) in SIGNALS {
        // SAFETY: Safety 1. If this fails, the signal ends the program, as before. With SA_RESETHAND a second one does, and so
        // does this one once the handler returns, since the instruction that failed is executed again.
        let _ = unsafe { signal::handle(number, handler, libc::SA_RESETHAND) };
    }
}

/// From now on exit(3) calls this function.
pub fn at_exit(call: extern "C" fn()) {
    // SAFETY: Safety 2. If there is no room for it, exit(3) does what it did.
    let _ = unsafe { libc::atexit(call) };
}

/// Ends the process, and calls nothing more.
pub fn leave(status: u8) -> ! {
    // SAFETY: returns nowhere.
    unsafe { libc::_exit(status.into()) }
}

pub fn name(signal: c_int) -> &'static str {
    let known = SIGNALS.iter().find(|(number, _)| *number == signal);
    known.map_or("a signal", |(_, name)| name)
}

extern "C" fn handler(signal: c_int) {
    match TELL.get() {
        Some(tell) => {
            tell(signal);
            std::thread::sleep(PATIENCE);
        }
        None => {
            for part in ["cyclewise: loading the object ended in ", name(signal), "\n"] {
                // SAFETY: the bytes of a string (Safety 1).
                unsafe { libc::write(libc::STDERR_FILENO, part.as_ptr().cast(), part.len()) };
            }
        }
    }
}
