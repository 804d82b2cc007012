//! Ctrl-C: the first asks for an end in good order, the second ends at once.
//!
//! # Safety
//! The handler stores to one atomic. It is taken away by the first signal, so that the second does what it does by default.
#![expect(unsafe_code, reason = "sigaction, raise")]

use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

static ASKED: AtomicBool = AtomicBool::new(false);

extern "C" fn handler(_: libc::c_int) {
    // Relaxed: a flag and nothing else.
    ASKED.store(true, Relaxed);
}

/// From now on the first SIGINT asks. Where the program was started with SIGINT ignored, it stays ignored.
pub fn listen() {
    let mut before = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: asks what is done by now, and writes one structure.
    if unsafe { libc::sigaction(libc::SIGINT, std::ptr::null(), before.as_mut_ptr()) } != 0 {
        return;
    }
    // SAFETY: zeroed is valid, and the kernel filled it.
    let before = unsafe { before.assume_init() };
    if before.sa_sigaction != libc::SIG_DFL {
        return;
    }
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: all zeroes is a valid structure.
    let action = unsafe { action.assume_init_mut() };
    action.sa_sigaction = handler as *const () as usize;
    action.sa_flags = libc::SA_RESTART | libc::SA_RESETHAND;
    // SAFETY: a handler that lives as long as the program. Where it fails SIGINT ends the program, as before.
    unsafe { libc::sigaction(libc::SIGINT, action, std::ptr::null_mut()) };
}

/// Whether it was asked.
pub fn asked() -> bool {
    ASKED.load(Relaxed)
}

/// Ends of SIGINT, as whoever waits for this process expects of one that was interrupted.
pub fn end() -> ! {
    // SAFETY: raises a signal whose action is the default's again, which ends the process.
    unsafe { libc::raise(libc::SIGINT) };
    // Only where somebody blocked it.
    std::process::exit(128 + libc::SIGINT)
}
