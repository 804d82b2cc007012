//! Confined mode: LOCK is elided while all threads of the process are confined to one CPU.
//!
//! [`enter`] sets the affinity of every thread in `/proc/self/task`, reads it back, and then elides. [`Guard::leave`]
//! restores LOCK, makes every CPU fetch it, and only then restores each thread's affinity: the order in which the
//! kernel brings a second CPU up.
//!
//! # Invariants
//! 1. From before the first prefix is elided until every CPU has fetched LOCK, the affinity of each thread of the
//!    process is the same one CPU.
//!
//! # Affinity set by others
//! A thread that is created with an affinity of its own (`pthread_attr_setaffinity_np`, as libgomp does, or the default attributes), or
//! past the hooks, is not confined. So LOCK is restored before it exists, and stays until the mode is left and entered again: updates
//! are not lost. [`state`](super::state()) shows it: the mode is in force and nothing is elided.
//!
//! The library cannot prevent that the affinity of a thread is set later: by the program, as `pthread_setaffinity_np` does, by
//! `taskset -ap`, a cpuset, an administrator who takes the CPU offline. This breaks Invariant 1 and loses updates, so the library
//! checks for it: [`Guard::leave`] reads every affinity back, as does each flip of a static key, and programs can call [`check`] and
//! [`audit()`]. A violation is [`Refusal::LetOut`], and LOCK is restored at once.
//!
//! # Forgotten guards
//! The mode is in force as long as its [`Guard`] exists. One that is forgotten (`mem::forget`, a cycle of references, a thread that
//! never returns) is left by [`leave`].
//!
//! # Sandboxes
//! Leaving opens `/proc/self/mem`, reads the list of threads and calls membarrier(2) and sched_setaffinity(2). If a
//! sandbox installed during the mode refuses to open the file, a descriptor kept open is used, as in [single
//! mode](super::single#sandboxes). If it refuses membarrier, nothing else makes every CPU fetch LOCK, and the mode
//! stays in force. If it refuses rt_sigprocmask(2), affinities are not restored: a handler could fork meanwhile, and
//! the child would widen its parent's threads. A sandbox that kills on one of these calls kills the process. Leave the
//! mode before entering a sandbox.
//!
//! # Priorities
//! All threads share one CPU, so a real-time thread that does not sleep starves all threads of lower priority,
//! including one that enters or leaves. [`enter`] waits, with LOCK in force, as long as such a thread of at least the
//! caller's priority runs on the CPU. The kernel's limit on real-time execution (`sched_rt_runtime_us`) lets threads of
//! the normal class run, but not other real-time threads. Every wait in this file sleeps.
//!
//! # Memory ordering
//! The threads take turns on one CPU, so each sees what the others wrote. Eliding needs no barrier: a CPU that still
//! has LOCK in its pipeline is slow and correct. Restoring does: a thread that is widened while its CPU has the DS
//! override in its pipeline would be fast and wrong, so membarrier makes every CPU serialize in between.
//!
//! # Cost
//! Entering reads the list of threads twice, makes two system calls per thread, and changes all sites. Leaving does the
//! same and reads the list and each affinity once more. Programs started in the mode inherit the one CPU.
//!
//! # Safety
//! The promise of [`enter`] holds until the guard has left.
#![expect(unsafe_code, reason = "elides under the contract of enter")]

mod audit;
mod confine;

pub use self::audit::{audit, check};
use self::confine::{confine, widen};
use super::coordinator;
use super::edits::Room;
use super::mode_lock::{self, CONFINED, HELPER_THREADS, LOCKED, ModeData, OWN_AFFINITIES, SINGLE};
use crate::arch;
use crate::error::Refusal;
use crate::sys::affinity::{self, CpuSet};
use crate::sys::{membarrier, proc_task};
use core::sync::atomic::Ordering;

/// Confined mode is in force while this exists. [`leave`] ends it where the guard was forgotten.
///
/// Dropping it leaves the mode; [`check`] then says whether the confinement held. If leaving fails, the mode stays in
/// force, as [`state`](super::state()) shows, and [`enter`] returns a new guard to retry with.
#[derive(Debug)]
#[must_use = "dropping the guard leaves confined mode"]
pub struct Guard {
    cpu: u32,
    /// Its number in [`ModeData`].
    number: u32,
    armed: bool,
}

/// Leaving failed, and `guard` can retry; or the mode was left, but the confinement had been broken.
#[derive(Debug)]
pub struct Stuck {
    /// Confined mode is in force while this exists, unless `refusal` is [`Refusal::LetOut`].
    pub guard: Guard,
    /// Why leaving failed, or how the confinement was broken.
    pub refusal: Refusal,
}

/// Confines every thread of the process to `cpu`, or to the caller's where `None`, and elides LOCK.
///
/// Leaving restores the affinity that was read, which omits CPUs that were offline.
///
/// # Errors
/// Says why LOCK stays; affinities are unchanged. [`Refusal::WrongMode`] where another guard exists.
///
/// # Safety
/// The promise of [`enable_single!`](crate::enable_single), whose hooks must be in force, including what it says about
/// memory and ordering. And until the guard has left:
/// 1. Nobody sets the affinity of a thread of this process that exists, by system call, by cpuset or by taking its CPU offline. This
///    includes another copy of this crate. A thread may be created with [an affinity of its own](self#affinity-set-by-others).
/// 2. No other process shares this one's memory map (clone(2) with CLONE_VM and without CLONE_THREAD), except children
///    of vfork and posix_spawn, which use none of these types before exec.
///
/// # Examples
/// ```standalone_crate
/// use cyclewise::patch::{confined, single};
///
/// // SAFETY: threads are created by the C library only, and no atomics are shared with other processes.
/// let hooks = unsafe { cyclewise::enable_single!() }.and_then(|()| single::lock());
/// // SAFETY: as above, and nobody sets this process's affinities.
/// match hooks.and_then(|()| unsafe { confined::enter(None) }) {
///     Ok(guard) => {
///         std::thread::spawn(|| {}).join().unwrap(); // On the same CPU, without LOCK.
///         drop(guard);
///     }
///     Err(refusal) => println!("LOCK stays: {refusal}"),
/// }
/// assert_eq!(confined::check(), Ok(()));
/// ```
pub unsafe fn enter(cpu: Option<u32>) -> Result<Guard, Refusal> {
    if !arch::HAS_SITES {
        return Err(Refusal::NoLockPrefix);
    }
    mode_lock::enabled()?;
    // Before the lock: this waits for the dynamic linker.
    coordinator::adopt_present();
    let mut room = Room::new()?;
    let mut guard = mode_lock::lock()?;
    let data = guard.data();
    let current = affinity::current_cpu()?;
    let cpu = cpu.unwrap_or(current);
    let entered = if mode_lock::mode() != CONFINED {
        confine_and_elide(data, &mut room, cpu)
    } else if data.guarded || cpu != current {
        return Err(Refusal::WrongMode);
    } else {
        // The mode is in force on the caller's CPU without a guard: a guard was dropped and could not leave, or its
        // owner was lost in a fork.
        data.cpu = current;
        Ok(())
    };
    // If a failed change could not be rolled back, the mode stays, with a guard to leave it.
    if mode_lock::mode() == CONFINED {
        data.guarded = true;
    } else {
        entered?;
    }
    data.guards = data.guards.wrapping_add(1);
    Ok(Guard {
        cpu,
        number: data.guards,
        armed: true,
    })
}

/// Leaves the mode without its guard: for [one that was forgotten](self#forgotten-guards). If it exists after all, it does nothing
/// from now on.
///
/// # Errors
/// As [`Guard::leave`], and then this can be called again. [`Refusal::WrongMode`] where the mode is not in force.
///
/// # Examples
/// ```
/// use cyclewise::{error::Refusal, patch::confined};
///
/// assert_eq!(confined::leave(), Err(Refusal::WrongMode)); // Nobody has entered it.
/// ```
pub fn leave() -> Result<(), Refusal> {
    let mut guard = mode_lock::lock()?;
    let data = guard.data();
    if mode_lock::mode() != CONFINED && !data.guarded {
        return Err(Refusal::WrongMode);
    }
    let left = leave_locked(data);
    if mode_lock::mode() != CONFINED {
        data.guards = data.guards.wrapping_add(1);
    }
    left
}

fn confine_and_elide(data: &mut ModeData, room: &mut Room, cpu: u32) -> Result<(), Refusal> {
    // Try what leaving needs before anything changes.
    membarrier::register_sync_core()?;
    membarrier::sync_core()?;
    let was_single = mode_lock::mode() == SINGLE;
    if !was_single {
        data.edits.check_locked(room)?;
    }
    let only = CpuSet::one(cpu)?;
    // Before threads are confined: those that were begun before are among them.
    let elsewhere = OWN_AFFINITIES.load(Ordering::SeqCst);
    data.cpu = cpu;
    data.saved.clear();
    data.default = affinity::get(0)?;
    let watched = || {
        let any = HELPER_THREADS.load(Ordering::SeqCst);
        (!any).then_some(()).ok_or(Refusal::HelperThreads)?;
        mode_lock::all_hooked()
    };
    if let Err(refusal) = watched().and_then(|()| confine(data, &only)).and_then(|()| watched()) {
        // LOCK is in force or no other thread can run, so failing to widen a thread is harmless.
        let _ = widen(data, &only);
        return Err(refusal);
    }
    mode_lock::set_mode(data, CONFINED);
    // After the mode: from now on who creates such a thread restores LOCK first. One that began before may be anywhere.
    if OWN_AFFINITIES.load(Ordering::SeqCst) != elsewhere {
        // Where the mode was single there is no other thread to create one; else nothing is elided yet.
        mode_lock::set_mode(data, if was_single { SINGLE } else { LOCKED });
        let _ = widen(data, &only);
        return Err(Refusal::Creating);
    }
    audit::begin(cpu);
    if was_single {
        // A unit in which that fails keeps LOCK.
        let _ = coordinator::elide_newcomers(data, room);
        return Ok(());
    }
    // SAFETY: all threads are on one CPU (Invariant 1) until `leave`, by the contract of `enter`.
    let elided = unsafe { data.edits.elide() };
    if elided.is_err() && data.edits.none_elided() {
        audit::end();
        mode_lock::set_mode(data, LOCKED);
        let _ = widen(data, &only);
    }
    elided
}

/// Restores LOCK before a thread is created that may be on another CPU. The mode stays in force, without anything that is elided or
/// that could be broken.
#[cold]
pub(super) fn before_thread_elsewhere() -> Result<(), Refusal> {
    // A thread that enters or leaves the mode holds the lock while it waits for who creates threads, and then it is not in force.
    let Some(mut guard) = mode_lock::lock_while(|| mode_lock::mode() == CONFINED)? else {
        return Ok(());
    };
    if mode_lock::mode() == CONFINED && audit::is_going_on() {
        guard.data().edits.restore()?;
        membarrier::register_sync_core()?;
        membarrier::sync_core()?;
        // As in `leave_locked`: a thread that was let out before is still told when the mode is left.
        let _ = audit();
        audit::end();
    }
    Ok(())
}

impl Guard {
    /// The one CPU.
    #[must_use]
    pub fn cpu(&self) -> u32 {
        self.cpu
    }

    /// Restores LOCK everywhere, makes every CPU fetch it, and restores each thread's affinity.
    ///
    /// # Errors
    /// Where LOCK cannot be restored: nothing has changed, and the guard is returned. Once LOCK is in force, a thread
    /// that cannot be widened (its cpuset may have changed) stays on the one CPU, which is not an error.
    ///
    /// [`Refusal::LetOut`] where a thread had another affinity, or was on another CPU, before LOCK was restored: the
    /// mode was left, and updates of [`atomic`](crate::atomic)'s types may have been lost. The returned guard does
    /// nothing.
    pub fn leave(mut self) -> Result<(), Stuck> {
        if !self.armed {
            return Ok(());
        }
        // Do not retry in `drop`: it would fail again.
        self.armed = false;
        let Self { cpu, number, .. } = self;
        leave_by(number).map_err(|refusal| Stuck {
            guard: Self {
                cpu,
                number,
                armed: !matches!(refusal, Refusal::LetOut { .. }),
            },
            refusal,
        })
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if self.armed && leave_by(self.number).is_err() {
            // Another call of `enter` may retry: see the type.
            if let Ok(mut guard) = mode_lock::lock() {
                let data = guard.data();
                data.guarded &= data.guards != self.number;
            }
        }
    }
}

/// Leaves the mode, unless it was left without the guard of this number, and perhaps entered again.
fn leave_by(number: u32) -> Result<(), Refusal> {
    let mut guard = mode_lock::lock()?;
    let data = guard.data();
    if data.guards != number {
        return Ok(());
    }
    leave_locked(data)
}

/// Leaves the mode. On `LetOut` the mode was left all the same.
fn leave_locked(data: &mut ModeData) -> Result<(), Refusal> {
    let only = CpuSet::one(data.cpu)?;
    if mode_lock::mode() != CONFINED {
        // A forked child inherited the guard and the affinity, and is in single mode or has left it. If it has threads
        // that no hook saw, each must stay on the one CPU until LOCK is restored.
        if mode_lock::mode() == SINGLE && proc_task::count() != Ok(1) {
            data.edits.restore()?;
            membarrier::register_sync_core()?;
            membarrier::sync_core()?;
            mode_lock::set_mode(data, LOCKED);
        }
        audit::end();
        data.guarded = false;
        let _ = widen(data, &only);
        return audit::seen();
    }
    data.edits.restore()?;
    // Register again, which is cheap: a forked child may not have inherited it.
    membarrier::register_sync_core()?;
    membarrier::sync_core()?;
    // LOCK is in force and no thread is widened yet. Where affinities cannot be read, a violation stays unknown.
    let _ = audit();
    audit::end();
    mode_lock::set_mode(data, LOCKED);
    data.guarded = false;
    let _ = widen(data, &only);
    audit::seen()
}
