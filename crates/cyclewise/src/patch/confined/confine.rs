//! Confines every thread of the process to one CPU, and widens them again.
//!
//! # Invariants
//! 1. A list of threads is complete if all in it were confined, then the kernel counted as many threads as it has, then
//!    a second reading gave the same list. So exactly these threads existed when the kernel counted.
//! 2. The kernel copies a thread's affinity from its creator at the start of clone, long before it lists the thread. So
//!    a complete list is not enough: after the last thread was confined, there must be a moment when none is being
//!    created (the hooks count), and then a complete list with nothing left to confine. From then on creators are
//!    confined throughout clone, and so are the threads they create. Widening needs such a moment for the same reason.
//! 3. Every thread is confined by a call, whatever its affinity reads: the kernel omits CPUs that are offline, and they
//!    may come back.
//! 4. The kernel reuses the id of a thread that has ended. An affinity saved under an id is restored only to a thread
//!    that started before the mode was entered; where the start time cannot be read, to any thread with that id. The
//!    start time is read only for threads whose saved affinity differs from that of new threads.
//! 5. Threads that the kernel made for itself keep their affinity: they never run code of this program
//!    ([`proc_stat`] says why), some cannot be moved, and io_uring may make one with another affinity at any time.
//! 6. Signals are blocked while affinities are set. Otherwise a signal handler could fork, and the child would continue
//!    with its parent's list: thread ids are valid in other processes too, so it would widen its parent's threads long
//!    after the parent has confined them again. Where signals cannot be blocked, nothing is set.

use crate::error::Refusal;
use crate::patch::mode_lock::{ModeData, RETRY_INTERVAL, ThreadCreation};
use crate::sys::affinity::{self, CpuSet};
use crate::sys::cancellation::held_off;
use crate::sys::signal_mask::block_signals;
use crate::sys::{proc_stat, proc_task};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use core::time::Duration;
use std::time::Instant;

/// How many readings of the list of threads, and how long, before it counts as unstable. Guesses: a reading takes
/// microseconds, and on a busy machine a creator may wait tens of milliseconds for its CPU.
const READINGS: u32 = 1000;
const LONG: Duration = Duration::from_secs(2);

/// The readings' indices, from 0, until the limits above.
fn readings() -> impl Iterator<Item = u32> {
    let begun = Instant::now();
    (0..).take_while(move |&reading| reading < READINGS || begun.elapsed() < LONG)
}

/// When threads were last confined, in the ticks of [`proc_stat::started`]. Read and written by who holds the mode lock, which orders
/// both.
static CONFINED_AT: AtomicU64 = AtomicU64::new(0);

/// Confines every thread and saves its affinity, until none is left and none is being created (Invariant 2).
pub(super) fn confine(data: &mut ModeData, only: &CpuSet) -> Result<(), Refusal> {
    // Where an affinity already reads as the one CPU, reading back would not show that nothing was set.
    affinity::is_set_by_the_kernel()?;
    // See Invariant 6.
    let _quiet = block_signals()?;
    let confined = confine_until_stable(data, only);
    // After the last save, also on failure: the widening that follows a failure uses it too.
    CONFINED_AT.store(proc_task::ticks(), Relaxed);
    confined
}

fn confine_until_stable(data: &mut ModeData, only: &CpuSet) -> Result<(), Refusal> {
    let mut none_being_created = false;
    for reading in readings() {
        let all_were_confined = confine_listed(data, only, reading == 0)?;
        if all_were_confined && none_being_created {
            return Ok(());
        }
        // Read after the list was confined: the next list contains every thread created before.
        none_being_created = !ThreadCreation::any();
        if !none_being_created {
            // Sleep, do not yield: creators need this thread's CPU, whatever its priority.
            held_off(|| std::thread::sleep(RETRY_INTERVAL));
        }
    }
    Err(Refusal::Unstable)
}

/// Confines the listed threads. Returns true if the list was complete (Invariant 1) and all were already confined.
/// Threads in the `first` list were created before any was confined, so their affinity is their own.
fn confine_listed(data: &mut ModeData, only: &CpuSet, first: bool) -> Result<bool, Refusal> {
    let mut changed = false;
    let listed = proc_task::list()?;
    for &tid in &listed {
        let Some(had) = affinity::get(tid)? else {
            // The thread ended, and the next reading omits it; or this process cannot see it, and it is never confined.
            changed = true;
            continue;
        };
        let known = data.saved.iter().any(|(saved, _)| *saved == tid);
        if known && had == *only || !known && proc_stat::is_kernels(tid) {
            continue;
        }
        changed = true;
        if affinity::set(tid, only)?.is_none() {
            continue;
        }
        if !known {
            // A new thread inherited the one CPU from a creator that was already confined.
            let inherited = had == *only && !first;
            let own = data.default.filter(|_| inherited).unwrap_or(had);
            data.saved.push((tid, own));
        }
        match affinity::get(tid)? {
            Some(has) if has != *only => return Err(Refusal::AffinityNotKept { thread: tid }),
            _ => {}
        }
    }
    Ok(!changed && proc_task::count()? as usize == listed.len() && proc_task::list()? == listed)
}

/// Restores every thread's affinity; threads created in the mode get that of the thread that entered. Repeats until
/// none is left and none is being created (Invariant 2).
pub(super) fn widen(data: &mut ModeData, only: &CpuSet) -> Result<(), Refusal> {
    // See Invariant 6.
    let _quiet = block_signals()?;
    let mut none_being_created = false;
    for _ in readings() {
        let mut changed = false;
        let listed = proc_task::list()?;
        for &tid in &listed {
            let Some(wanted) = wanted(data, tid).filter(|wanted| wanted != only) else {
                continue;
            };
            if affinity::get(tid)?.is_some_and(|has| has == *only) {
                // A thread whose affinity cannot be restored, because its cpuset has changed, does not stop the others.
                changed |= matches!(affinity::set(tid, &wanted), Ok(Some(())));
            }
        }
        // A process's only thread creates none while it runs this, even if a child of fork still counts creators of its
        // parent.
        if !changed && (none_being_created || listed.len() == 1) {
            return Ok(());
        }
        none_being_created = !ThreadCreation::any();
        if !none_being_created && !changed {
            held_off(|| std::thread::sleep(RETRY_INTERVAL));
        }
    }
    Err(Refusal::Unstable)
}

/// The affinity to restore (Invariant 4).
fn wanted(data: &ModeData, tid: i32) -> Option<CpuSet> {
    let saved = data.saved.iter().find(|(saved, _)| *saved == tid).map(|(_, had)| *had);
    let is_newer = || proc_stat::started(tid).is_some_and(|start| start > CONFINED_AT.load(Relaxed));
    if saved.is_none() && proc_stat::is_kernels(tid) {
        return None;
    }
    match (saved, data.default) {
        (Some(had), Some(default)) if had != default && is_newer() => Some(default),
        (saved, default) => saved.or(default),
    }
}
