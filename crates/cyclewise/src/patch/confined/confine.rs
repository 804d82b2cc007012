//! Every thread of the process on one CPU, and back.
//!
//! # Invariants
//! 1. A list of threads was complete: all in it were confined, then the kernel counted as many threads as the list has,
//!    then the same list was read again. So all of the list were there when the kernel counted, and nobody else.
//! 2. A thread's affinity is copied from its creator's at the start of clone, long before the thread is in any list. So
//!    a complete list is not enough: after the last thread was confined, a moment has to come when none is being created
//!    (the hooks count), and then a complete list that has nothing left to confine. From then on creators are confined
//!    from the start to the end of clone, and so is what they create. Widening needs such a moment for the same reason.
//! 3. Every thread is confined by a call, whatever its affinity reads: the kernel leaves out CPUs that are offline, and
//!    they may come back.
//! 4. The kernel gives the number of a thread that has ended to another. What is kept under a number is given back to a
//!    thread that was started before the mode was entered only; where that cannot be read, to any. It is read of threads
//!    that were to get something else than a newcomer gets.
//! 5. Signals are blocked while affinities are set. A child that a handler forks meanwhile goes on with its parent's list,
//!    and a thread's number is good in other processes too: it would widen its parent's threads, long after its parent
//!    has confined them again. Where signals cannot be blocked nothing is set.

use crate::error::Refusal;
use crate::patch::mode_lock::{ModeData, RETRY_INTERVAL, ThreadCreation};
use crate::sys::affinity::{self, CpuSet};
use crate::sys::signals::Blocked;
use crate::sys::tasks;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use core::time::Duration;
use std::time::Instant;

/// How often the list of threads is read, and for how long, before it counts as unstable. Guesses: each reading takes
/// microseconds, and a busy machine may leave a creator waiting for its CPU for some tens of milliseconds.
const READINGS: u32 = 1000;
const LONG: Duration = Duration::from_secs(2);

/// The numbers of the readings, from 0, for as long as it is worth another.
fn readings() -> impl Iterator<Item = u32> {
    let begun = Instant::now();
    (0..).take_while(move |&reading| reading < READINGS || begun.elapsed() < LONG)
}

/// When threads were last confined, in the ticks of [`tasks::started`]. Read and written by who holds the mode_lock, which orders
/// both.
static CONFINED_AT: AtomicU64 = AtomicU64::new(0);

/// Confines every thread and saves what it had, until nobody is left and nobody is on the way (Invariant 2).
pub(super) fn confine(data: &mut ModeData, only: &CpuSet) -> Result<(), Refusal> {
    // What reads as confined already would not show that nothing was set.
    affinity::is_set_by_the_kernel()?;
    // See Invariant 5.
    let _quiet = Blocked::of_others()?;
    let confined = confine_until_stable(data, only);
    // After the last that was saved, and whatever came of it: who is widened because this failed is judged by it as well.
    CONFINED_AT.store(tasks::ticks(), Relaxed);
    confined
}

fn confine_until_stable(data: &mut ModeData, only: &CpuSet) -> Result<(), Refusal> {
    let mut none_on_the_way = false;
    for reading in readings() {
        let all_were_confined = confine_listed(data, only, reading == 0)?;
        if all_were_confined && none_on_the_way {
            return Ok(());
        }
        // Looked at after the list was confined, whether or not anything had to be: the next list has whoever came.
        none_on_the_way = !ThreadCreation::any();
        if !none_on_the_way {
            // Creators need the CPU that this thread is on, whatever its priority: so not a yield.
            std::thread::sleep(RETRY_INTERVAL);
        }
    }
    Err(Refusal::Unstable)
}

/// Confines the listed threads; true where the list was complete (Invariant 1) and all were confined already. Who is in
/// the `first` list was created before anybody was confined, so what such a thread has is its own.
fn confine_listed(data: &mut ModeData, only: &CpuSet, first: bool) -> Result<bool, Refusal> {
    let mut changed = false;
    let listed = tasks::list()?;
    for &tid in &listed {
        let Some(had) = affinity::get(tid)? else {
            // Gone, and then the next reading is without it; or out of this process's sight, and then never confined.
            changed = true;
            continue;
        };
        let known = data.saved.iter().any(|(saved, _)| *saved == tid);
        if known && had == *only {
            continue;
        }
        changed = true;
        if affinity::set(tid, only)?.is_none() {
            continue;
        }
        if !known {
            // The one CPU of a newcomer is its creator's, who was confined by then.
            let inherited = had == *only && !first;
            let own = data.default.filter(|_| inherited).unwrap_or(had);
            data.saved.push((tid, own));
        }
        match affinity::get(tid)? {
            Some(has) if has != *only => return Err(Refusal::AffinityNotKept { thread: tid }),
            _ => {}
        }
    }
    Ok(!changed && tasks::count()? == listed.len() && tasks::list()? == listed)
}

/// Gives every thread back what it had, those that were created meanwhile what the thread had that entered; until nobody
/// is left and nobody is on the way (Invariant 2).
pub(super) fn widen(data: &mut ModeData, only: &CpuSet) -> Result<(), Refusal> {
    // See Invariant 5.
    let _quiet = Blocked::of_others()?;
    let mut none_on_the_way = false;
    for _ in readings() {
        let mut changed = false;
        let listed = tasks::list()?;
        for &tid in &listed {
            let Some(wanted) = wanted(data, tid).filter(|wanted| wanted != only) else {
                continue;
            };
            if affinity::get(tid)?.is_some_and(|has| has == *only) {
                // One that cannot have its CPUs back, because its cpuset has changed, keeps nobody else from theirs.
                changed |= matches!(affinity::set(tid, &wanted), Ok(Some(())));
            }
        }
        // One thread creates none while it is here, whatever a child of fork counts that others were creating.
        if !changed && (none_on_the_way || listed.len() == 1) {
            return Ok(());
        }
        none_on_the_way = !ThreadCreation::any();
        if !none_on_the_way && !changed {
            std::thread::sleep(RETRY_INTERVAL);
        }
    }
    Err(Refusal::Unstable)
}

/// What a thread is given back (Invariant 4).
fn wanted(data: &ModeData, tid: i32) -> Option<CpuSet> {
    let saved = data.saved.iter().find(|(saved, _)| *saved == tid).map(|(_, had)| *had);
    let is_newer = || tasks::started(tid).is_some_and(|start| start > CONFINED_AT.load(Relaxed));
    match (saved, data.default) {
        (Some(had), Some(default)) if had != default && is_newer() => Some(default),
        (saved, default) => saved.or(default),
    }
}
