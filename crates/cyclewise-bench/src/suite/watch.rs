//! The limits of a body: how long a call may take, how much memory it may have, and that code of another compiler does not crash.
//!
//! A thread cannot be ended from outside, and neither an allocator nor a signal handler can unwind. So another thread ends the program: it
//! sleeps until the time of the call in progress is over, or until one of these wakes it, and then writes what there is.
//!
//! # Cost
//! The watching thread wakes once in the length of the limit, and not once a sample.

use crate::sys::{allocations, clock, crash};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::{self, Thread};
use std::time::Duration;

/// When the call in progress began, in nanoseconds; 0 while there is none.
static BEGUN: AtomicU64 = AtomicU64::new(0);
static ROW: Mutex<String> = Mutex::new(String::new());
/// Whether the allocator has refused.
static BEYOND: AtomicBool = AtomicBool::new(false);
/// The signal of a crash, or [`LEFT`]; 0 while there is none.
static CRASHED: AtomicI32 = AtomicI32::new(0);
/// A body has called exit(3).
const LEFT: i32 = -1;
static WATCHER: OnceLock<Thread> = OnceLock::new();

/// Starts watching; `end` gets the row and what it did, and does not return.
pub(super) fn begin(call: Duration, memory: Option<usize>, end: impl FnOnce(&str) + Send + 'static) {
    let watch = move || {
        let why = wait(call, memory);
        let row = ROW.lock().unwrap_or_else(PoisonError::into_inner).clone();
        end(&format!("{row}: {why}"));
    };
    let watcher = thread::Builder::new().name("limits".to_string()).spawn(watch);
    // Without a second thread there are no limits, which is how a process without threads is used.
    let Ok(watcher) = watcher else { return };
    if WATCHER.set(watcher.thread().clone()).is_ok()
        && let Some(bytes) = memory
    {
        allocations::limit(bytes, beyond);
    }
}

/// Waits for a limit to be passed.
fn wait(call: Duration, memory: Option<usize>) -> String {
    let limit = u64::try_from(call.as_nanos()).unwrap_or(u64::MAX);
    loop {
        // Relaxed: the unpark that follows its store orders it, and a look too early is followed by another.
        if BEYOND.load(Relaxed) {
            let bytes = memory.unwrap_or_default();
            return format!("has more than {bytes} bytes at once; raise --memory-limit if it may");
        }
        // Relaxed: as above.
        match CRASHED.load(Relaxed) {
            0 => {}
            LEFT => return "called exit(3), which ends the program; return, or leave it out by --skip".to_string(),
            signal => {
                let name = crash::name(signal);
                return format!("ended in {name}; run it in a debugger, or leave it out by --skip");
            }
        }
        let begun = BEGUN.load(Relaxed);
        let now = clock::monotonic_ns();
        let left = match begun {
            0 => limit,
            _ => (begun.saturating_add(limit)).saturating_sub(now),
        };
        if left == 0 {
            let seconds = call.as_secs_f64();
            return format!("has not returned for {seconds} s; raise --call-limit if it needs longer");
        }
        thread::park_timeout(Duration::from_nanos(left));
    }
}

/// The allocating thread's end: the watcher ends the program meanwhile.
fn beyond() -> ! {
    BEYOND.store(true, Relaxed);
    if let Some(watcher) = WATCHER.get() {
        watcher.unpark();
    }
    loop {
        thread::sleep(Duration::from_secs(1));
    }
}

/// From now on a crash ends the program as a limit does: after [`begin`], else there is nobody to end it.
pub(super) fn crashes() {
    if WATCHER.get().is_some() {
        crash::tell_by(crashed);
        crash::listen();
        crash::at_exit(left);
    }
}

/// In exit(3), which the harness itself calls only between calls of bodies, or not at all.
extern "C" fn left() {
    // Relaxed: this thread's own.
    if BEGUN.load(Relaxed) != 0 {
        crashed(LEFT);
        thread::sleep(crash::PATIENCE);
        crash::leave(1);
    }
}

/// In the signal handler of the thread that crashed: the watcher ends the program meanwhile.
fn crashed(signal: i32) {
    // Relaxed: as `beyond`.
    CRASHED.store(signal, Relaxed);
    if let Some(watcher) = WATCHER.get() {
        watcher.unpark();
    }
}

/// The row whose calls follow.
pub(super) fn row(name: &str) {
    *ROW.lock().unwrap_or_else(PoisonError::into_inner) = name.to_string();
}

/// Runs `work` as a call in progress.
pub(super) fn watched<T>(work: impl FnOnce() -> T) -> T {
    // Relaxed: a time and nothing else.
    BEGUN.store(clock::monotonic_ns(), Relaxed);
    let result = work();
    BEGUN.store(0, Relaxed);
    result
}
