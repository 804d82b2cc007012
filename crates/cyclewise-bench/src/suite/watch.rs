//! The limits of a body: how long a call may take, and how much memory it may have.
//!
//! A thread cannot be ended from outside, and an allocator cannot unwind. So another thread ends the program: it sleeps until
//! the time of the call in progress is over, or until the allocator wakes it, and then writes what there is.
//!
//! # Cost
//! The watching thread wakes once in the length of the limit, and not once a sample.

use crate::sys::{allocations, clock};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::{self, Thread};
use std::time::Duration;

/// When the call in progress began, in nanoseconds; 0 while there is none.
static BEGUN: AtomicU64 = AtomicU64::new(0);
/// The row that is running.
static ROW: Mutex<String> = Mutex::new(String::new());
/// Whether the allocator has refused.
static BEYOND: AtomicBool = AtomicBool::new(false);
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
