//! Ctrl-C: the first asks the run to end in good order, the second ends it at once. The same of SIGTERM and SIGHUP where that is wanted.
//!
//! # Safety
//! The handler stores to one atomic.
#![expect(unsafe_code, reason = "a signal handler")]

use super::signal;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

static ASKED: AtomicBool = AtomicBool::new(false);

extern "C" fn handler(_: libc::c_int) {
    // Relaxed: a flag and nothing else.
    ASKED.store(true, Relaxed);
}

/// From now on the first SIGINT asks. Where the program was started with SIGINT ignored, it stays ignored.
pub fn listen() {
    listen_to(libc::SIGINT);
}

/// Like [`listen`], for SIGTERM and SIGHUP too: what a supervisor or a lost terminal sends to one that has results to report.
pub fn listen_to_supervisors() {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        listen_to(signal);
    }
}

fn listen_to(signal: libc::c_int) {
    if signal::has_default_action(signal) {
        // SAFETY: the handler stores to one atomic. If this fails, the signal ends the program, as before.
        let _ = unsafe { signal::handle(signal, handler, libc::SA_RESETHAND) };
    }
}

/// Whether a signal has asked.
pub fn asked() -> bool {
    #[cfg(any(test, feature = "testing"))]
    if PRETENDED.get() {
        return true;
    }
    ASKED.load(Relaxed)
}

#[cfg(any(test, feature = "testing"))]
thread_local! {
    static PRETENDED: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Whether this thread, and no other, takes it that a signal has asked.
#[cfg(any(test, feature = "testing"))]
pub fn pretend(asked: bool) {
    PRETENDED.set(asked);
}

/// Ends by SIGINT, as a parent expects of an interrupted process.
pub fn end() -> ! {
    // SA_RESETHAND restored the default action, which ends the process.
    signal::raise(libc::SIGINT);
    // Reached only where SIGINT is blocked.
    std::process::exit(128 + libc::SIGINT)
}
