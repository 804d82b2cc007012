//! A shared object with its own copy of the crate and its own hooks, for a program to load.
//!
//! Its hooks are not the ones in force in a program that has hooks of its own, so it elides nothing.

use cyclewise::atomic::{AtomicUsize, Ordering};
use cyclewise::error::Refusal;
use cyclewise::patch;

static COUNTER: AtomicUsize = AtomicUsize::new(0);

/// Asks for single mode: 0 where it is in force, 1 where these hooks are not, 2 for another refusal.
#[unsafe(no_mangle)]
pub extern "C" fn plugin_enable() -> i32 {
    // SAFETY: this object creates threads through the C library only, and shares no atomics with other processes.
    match unsafe { cyclewise::enable_single!() } {
        Ok(()) => 0,
        Err(Refusal::NotInForce { .. } | Refusal::NoLockPrefix) => 1,
        Err(_) => 2,
    }
}

/// Sites of this object.
#[unsafe(no_mangle)]
pub extern "C" fn plugin_sites() -> usize {
    COUNTER.inc(Ordering::Relaxed);
    patch::state().sites
}

/// Those that have no LOCK.
#[unsafe(no_mangle)]
pub extern "C" fn plugin_elided() -> usize {
    patch::state().elided
}

/// Creates a thread and waits for its end, with this object's copy of std.
#[unsafe(no_mangle)]
pub extern "C" fn plugin_spawn() -> i32 {
    let thread = std::thread::spawn(|| COUNTER.fetch_add(1, Ordering::Relaxed));
    thread.join().map_or(1, |_| 0)
}

cyclewise::percpu! {
    static CALLS: u64;
}

/// Counts a call in this object's own per-CPU words; how many there have been.
#[unsafe(no_mangle)]
pub extern "C" fn plugin_count() -> u64 {
    CALLS.add(1);
    CALLS.sum()
}

/// Whether this object's copy uses restartable sequences.
#[unsafe(no_mangle)]
pub extern "C" fn plugin_restarts() -> i32 {
    i32::from(cyclewise::percpu::backend().backend == cyclewise::percpu::Backend::Rseq)
}
