//! Confined mode: LOCK is gone while all threads of the process are confined to one CPU.
//!
//! [`enter`] sets the affinity of every thread in `/proc/self/task`, reads it back, and then elides. [`Guard::leave`]
//! restores LOCK, makes every CPU fetch it, and only then widens each thread's affinity: the order that the kernel keeps
//! when it brings a second CPU up.
//!
//! # Invariants
//! 1. From before the first prefix is elided until after every CPU has fetched LOCK, each thread of the process has
//!    exactly one CPU in its affinity, and it is the same one.
//!
//! # Broken from outside
//! Nobody can be kept from setting the affinity of this process's threads: `taskset -ap`, a cpuset, an administrator who
//! takes the CPU offline. It breaks Invariant 1 and loses updates, and it is looked for: by [`Guard::leave`], which reads
//! every affinity back, by each change of a static key, and by [`check`] and [`audit`], which programs call. What is found
//! is [`Refusal::LetOut`], and LOCK is put back at once.
//!
//! # Sandboxes
//! Leaving opens `/proc/self/mem`, reads the list of threads and calls membarrier(2) and sched_setaffinity(2). A sandbox that
//! comes while the mode is in force and refuses to open the file is endured: a descriptor is kept, as in
//! [single mode](super::single#sandboxes). One that refuses membarrier is not: nothing else makes every CPU fetch LOCK, and the mode
//! stays in force. Under one that refuses rt_sigprocmask(2) threads are not widened: a handler could fork meanwhile, and the child
//! widen its parent's threads. One that kills whoever makes one of these calls kills. Leave the mode before entering a sandbox.
//!
//! # Priorities
//! All threads share one CPU, so a thread of a real-time class that does not sleep keeps out all that it does not give way
//! to, among them one that enters or leaves: [`enter`] waits, with LOCK in force, as long as such a thread of at least the
//! caller's priority runs on the CPU. The kernel's limit of real-time time (`sched_rt_runtime_us`) lets threads of the usual
//! class run, and none of its own. Nothing in this file waits without sleeping.
//!
//! # Memory ordering
//! The threads take turns on one CPU, and what one wrote is there for the next. Eliding needs no barrier: a CPU that
//! still has LOCK in its pipeline is slow and right. Restoring does: a thread that is widened while its CPU has the DS
//! override in its pipeline would be fast and wrong, so membarrier makes every CPU serialize in between.
//!
//! # Cost
//! Two readings of the list of threads, two system calls for each thread, and a change of all sites; then the same to
//! leave, and a reading of the list and of each affinity more. Programs started meanwhile inherit the one CPU.
//!
//! # Safety
//! The promise of [`enter`] holds until the guard has left.
#![expect(unsafe_code, reason = "elides under the contract of enter")]

mod audit;
mod confine;

pub use self::audit::{audit, check};
use self::confine::{confine, widen};
use super::edits::none_elided;
use super::mode_lock::{self, CONFINED, HELPER_THREADS, LOCKED, ModeData, SINGLE};
use super::single::enabled;
use super::tls_hooks;
use crate::arch;
use crate::error::Refusal;
use crate::sys::affinity::{self, CpuSet};
use crate::sys::{membarrier, tasks};
use core::sync::atomic::Ordering;

/// Confined mode is in force while this exists.
///
/// Dropping it leaves; [`check`] then says whether the mode had been kept. Where leaving fails, the mode stays in force, which [`state`](super::state()) shows; [`enter`] then
/// gives a new guard to try again with.
#[derive(Debug)]
#[must_use = "dropping the guard leaves confined mode"]
pub struct Guard {
    cpu: u32,
    armed: bool,
}

/// Leaving failed, or the mode was left and had not been kept: why, and the guard to try again with in the first case.
#[derive(Debug)]
pub struct Stuck {
    /// Confined mode is in force as long as this exists, but where `refusal` is [`Refusal::LetOut`].
    pub guard: Guard,
    /// Why it was not left, or how it was broken.
    pub refusal: Refusal,
}

/// Confines every thread of the process to `cpu`, or to the caller's where `None`, and elides LOCK.
///
/// Leaving gives each thread the affinity that could be read, which leaves out CPUs that were offline.
///
/// # Errors
/// Says why LOCK stays; affinities are as they were. [`Refusal::WrongMode`] where another guard exists.
///
/// # Safety
/// The promise of [`enable_single!`](crate::enable_single), whose hooks have to be in force, with what it says of memory and
/// of order that others see. And until the guard has left:
/// 1. Nobody sets the affinity of a thread of this process, by system call, by cpuset or by taking its CPU offline; no
///    thread is created with an affinity of its own (`pthread_attr_setaffinity_np`). Another copy of this crate counts.
/// 2. No other process shares this one's memory map (clone(2) with CLONE_VM and without CLONE_THREAD), but for children of
///    vfork and posix_spawn, which use none of these types before exec.
pub unsafe fn enter(cpu: Option<u32>) -> Result<Guard, Refusal> {
    if !arch::HAS_SITES {
        return Err(Refusal::NoLockPrefix);
    }
    enabled()?;
    let mut guard = mode_lock::lock()?;
    let data = guard.data();
    let current = affinity::current()?;
    let cpu = cpu.unwrap_or(current);
    let entered = if mode_lock::mode() != CONFINED {
        confine_and_elide(data, cpu)
    } else if data.guarded || cpu != current {
        return Err(Refusal::WrongMode);
    } else {
        // The mode is in force on the caller's CPU without a guard: one was dropped and could not leave, or
        // its owner was.
        data.cpu = current;
        Ok(())
    };
    // A change that failed and could not be undone keeps the mode, and the guard to leave it with.
    if mode_lock::mode() == CONFINED {
        data.guarded = true;
        return Ok(Guard { cpu, armed: true });
    }
    entered.map(|()| Guard { cpu, armed: true })
}

fn confine_and_elide(data: &mut ModeData, cpu: u32) -> Result<(), Refusal> {
    // Whatever is needed to leave is tried before anything changes.
    membarrier::register_sync_core()?;
    membarrier::sync_core()?;
    let was_single = mode_lock::mode() == SINGLE;
    if !was_single {
        data.edits.check_locked()?;
    }
    let only = CpuSet::one(cpu)?;
    data.cpu = cpu;
    data.saved.clear();
    data.default = affinity::get(0)?;
    let watched = || {
        let any = HELPER_THREADS.load(Ordering::SeqCst);
        (!any).then_some(()).ok_or(Refusal::HelperThreads)?;
        tls_hooks::all_hooked()
    };
    if let Err(refusal) = watched().and_then(|()| confine(data, &only)).and_then(|()| watched()) {
        // LOCK is in force or there is one thread, so a thread that cannot be widened is an inconvenience.
        let _ = widen(data, &only);
        return Err(refusal);
    }
    mode_lock::set_mode(data, CONFINED);
    audit::begin(cpu);
    if was_single {
        return Ok(());
    }
    // SAFETY: all threads are on one CPU (Invariant 1) until `leave`, by the contract of `enter`.
    let elided = unsafe { data.edits.elide() };
    if elided.is_err() && none_elided() {
        audit::end();
        mode_lock::set_mode(data, LOCKED);
        let _ = widen(data, &only);
    }
    elided
}

impl Guard {
    /// The one CPU.
    #[must_use]
    pub fn cpu(&self) -> u32 {
        self.cpu
    }

    /// Restores LOCK everywhere, makes every CPU fetch it, and gives each thread its affinity back.
    ///
    /// # Errors
    /// Where LOCK could not be restored: everything is as it was, and the guard comes back. Once LOCK is in force,
    /// a thread that cannot be widened (its cpuset may have changed) stays on the one CPU and is no error.
    ///
    /// [`Refusal::LetOut`] where a thread was seen to have another affinity, or on another CPU, before LOCK was back: the
    /// mode was left, and updates of [`atomic`](crate::atomic)'s types may have been lost in it. The guard that comes back
    /// has nothing more to leave.
    pub fn leave(mut self) -> Result<(), Stuck> {
        if !self.armed {
            return Ok(());
        }
        // Once is enough: what fails here would fail in `drop`.
        self.armed = false;
        let cpu = self.cpu;
        leave().map_err(|refusal| Stuck {
            guard: Self {
                cpu,
                armed: !matches!(refusal, Refusal::LetOut { .. }),
            },
            refusal,
        })
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if self.armed && leave().is_err() {
            // Somebody else may try: see the type.
            if let Ok(mut guard) = mode_lock::lock() {
                guard.data().guarded = false;
            }
        }
    }
}

/// Leaves the mode, also where it says that a thread was let out.
fn leave() -> Result<(), Refusal> {
    let mut guard = mode_lock::lock()?;
    let data = guard.data();
    let only = CpuSet::one(data.cpu)?;
    if mode_lock::mode() != CONFINED {
        // A forked child, in single mode or past it, that inherited the guard and the affinity. Where it has threads that
        // no hook saw, each of them has to stay on the one CPU until LOCK is back.
        if mode_lock::mode() == SINGLE && tasks::count() != Ok(1) {
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
    // Again, and cheap: a forked child may not have inherited it.
    membarrier::register_sync_core()?;
    membarrier::sync_core()?;
    // With LOCK in force, and before anybody is widened. Where affinities cannot be read, nothing is known of them.
    let _ = audit();
    audit::end();
    mode_lock::set_mode(data, LOCKED);
    data.guarded = false;
    let _ = widen(data, &only);
    audit::seen()
}
