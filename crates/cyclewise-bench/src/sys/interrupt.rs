//! Signals that ask a run to end: Ctrl-C, and what supervisors (SIGTERM) and lost terminals (SIGHUP) send. The first asks for an end in good
//! order, a second of the same kind ends the process at once.
//!
//! # Safety
//! 1. The handler stores to an atomic and writes to a descriptor, both of which it may.
//! 2. The descriptor of [`wake_up`] is open from its first use to the end of the process.
#![expect(unsafe_code, reason = "a signal handler, and a descriptor that is never closed")]

use super::signal;
use std::os::fd::{BorrowedFd, IntoRawFd as _};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

/// What is listened to, with the names that people know.
const SIGNALS: [(libc::c_int, &str); 3] = [
    (libc::SIGINT, "Ctrl-C"),
    (libc::SIGTERM, "SIGTERM"),
    (libc::SIGHUP, "SIGHUP"),
];

/// The first signal that asked; 0: none.
static ASKED: AtomicI32 = AtomicI32::new(0);

/// What becomes readable when one asks, if the kernel has eventfd(2).
static WAKE_UP: OnceLock<Option<libc::c_int>> = OnceLock::new();

extern "C" fn handler(signal: libc::c_int) {
    // Relaxed: a number and nothing else.
    let _ = ASKED.compare_exchange(0, signal, Relaxed, Relaxed);
    if let Some(Some(descriptor)) = WAKE_UP.get() {
        let one = 1u64;
        // SAFETY: the bytes of a number, to a descriptor that stays open (Safety 1 and 2).
        unsafe { libc::write(*descriptor, (&raw const one).cast(), size_of::<u64>()) };
    }
}

/// From now on the first of these signals asks. One that was ignored at the program's start stays ignored.
pub fn listen() {
    listen_with(libc::SA_RESETHAND);
}

/// As [`listen`], in a process whose parent passes on what it gets: the same signal may come from both, and the second changes nothing.
pub fn listen_with_parent() {
    listen_with(0);
}

fn listen_with(flags: libc::c_int) {
    WAKE_UP.get_or_init(|| {
        use rustix::event::{EventfdFlags, eventfd};
        let made = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
        made.ok().map(|descriptor| descriptor.into_raw_fd())
    });
    for (signal, _) in SIGNALS {
        if signal::has_default_action(signal) {
            // SAFETY: Safety 1. If this fails, the signal ends the program, as before.
            let _ = unsafe { signal::handle(signal, handler, flags) };
        }
    }
}

/// A descriptor that is readable from when a signal has asked, for who waits; `None` where nothing listens.
pub fn wake_up() -> Option<BorrowedFd<'static>> {
    let descriptor = (*WAKE_UP.get()?)?;
    // SAFETY: Safety 2.
    Some(unsafe { BorrowedFd::borrow_raw(descriptor) })
}

pub fn asked() -> bool {
    signal().is_some()
}

/// The signal that asked first.
pub fn signal() -> Option<libc::c_int> {
    #[cfg(any(test, feature = "testing"))]
    if PRETENDED.get() {
        return Some(libc::SIGINT);
    }
    Some(ASKED.load(Relaxed)).filter(|signal| *signal != 0)
}

/// What asked, in a word: `Ctrl-C` of SIGINT.
pub fn name() -> &'static str {
    let known = SIGNALS.iter().find(|(number, _)| signal() == Some(*number));
    known.map_or("Ctrl-C", |(_, name)| name)
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

/// Ends by the signal that asked, as a parent expects of an interrupted process: a shell then has 130, 143 or 129.
pub fn end() -> ! {
    let signal = signal().unwrap_or(libc::SIGINT);
    signal::set_default(signal);
    signal::raise(signal);
    // Reached only where the signal is blocked.
    std::process::exit(128 + signal)
}
