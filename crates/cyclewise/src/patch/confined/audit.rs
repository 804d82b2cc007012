//! Checks whether a thread left confined mode's CPU. The promise of [`enter`](super::enter) excludes it, but nothing
//! can prevent it: `taskset -ap`, a container's cpuset, a CPU that goes offline. Threads that the kernel made for itself may.
//!
//! There are two checks. [`check`]: the calling thread is on another CPU. [`audit`]: a thread's affinity is not the one
//! CPU. Both report a violation until the mode is entered again, and restore LOCK at once: earlier updates may be lost,
//! later ones are not. The mode stays in force until it is left, so that new threads stay on the CPU.
//!
//! An affinity that is set and reset between two checks is not detected.
//!
//! # Memory ordering
//! [`STAMP`] is sequentially consistent, like the mode. It is set once every thread is confined and cleared before any
//! is widened, and no two entries have the same value: if it is the same before and after a check, the mode was in
//! force throughout.

use crate::error::Refusal;
use crate::patch::mode_lock::{self, CONFINED};
use crate::sys::affinity::{self, CpuSet};
use crate::sys::{membarrier, proc_stat, proc_task, thread};
use core::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering::SeqCst};

/// The number of this entry into the mode, and the CPU's number plus one; 0 outside the mode.
static STAMP: AtomicU64 = AtomicU64::new(0);

/// The first thread found outside since the mode was entered; 0 for none.
static SEEN: AtomicI32 = AtomicI32::new(0);

/// Starts an entry: every thread is confined to `cpu` from now on.
pub(super) fn begin(cpu: u32) {
    static TIMES: AtomicU32 = AtomicU32::new(0);
    let time = TIMES.fetch_add(1, SeqCst);
    SEEN.store(0, SeqCst);
    STAMP.store(u64::from(time) << 32 | u64::from(cpu + 1), SeqCst);
}

/// Ends it: threads may be widened from now on.
pub(super) fn end() {
    STAMP.store(0, SeqCst);
}

/// Whether an entry has begun and not ended.
pub(super) fn is_going_on() -> bool {
    STAMP.load(SeqCst) != 0
}

/// The violation found since the mode was last entered.
pub(super) fn seen() -> Result<(), Refusal> {
    match SEEN.load(SeqCst) {
        0 => Ok(()),
        thread => Err(Refusal::LetOut { thread }),
    }
}

/// Checks that the calling thread is on confined mode's CPU and that no violation was found since the mode was last
/// entered.
///
/// Success proves nothing about other threads or about the past; failure is proof. Cost: four loads and
/// sched_getcpu(3), which reads the C library's rseq area, or else the vDSO: no system call.
///
/// # Errors
/// [`Refusal::LetOut`]: updates may be lost. LOCK is restored if possible; leave the mode.
///
/// # Examples
/// ```
/// // `Ok` outside confined mode, too.
/// if let Err(violation) = cyclewise::patch::confined::check() {
///     panic!("updates may be lost: {violation}");
/// }
/// ```
pub fn check() -> Result<(), Refusal> {
    let stamp = STAMP.load(SeqCst);
    seen()?;
    let Some(cpu) = cpu_of(stamp) else { return Ok(()) };
    if affinity::current_cpu()? == cpu {
        Ok(())
    } else {
        found(thread::id(), stamp)
    }
}

/// Checks that every thread's affinity is confined mode's CPU and that no violation was found since the mode was last
/// entered. Leaving calls this, and so does each flip of a [static key](crate::static_key).
///
/// # Cost
/// Reads the list of threads and makes a system call for each.
///
/// # Errors
/// [`Refusal::LetOut`]: updates may be lost. LOCK is restored if possible; leave the mode. Others where affinities
/// cannot be read: then nothing is known.
///
/// # Examples
/// ```
/// if let Err(violation) = cyclewise::patch::confined::audit() {
///     panic!("updates may be lost: {violation}");
/// }
/// ```
pub fn audit() -> Result<(), Refusal> {
    let stamp = STAMP.load(SeqCst);
    seen()?;
    let Some(cpu) = cpu_of(stamp) else {
        return Ok(());
    };
    let only = CpuSet::one(cpu)?;
    for tid in proc_task::list()? {
        if affinity::get(tid)?.is_some_and(|has| has != only) && !proc_stat::is_kernels(tid) {
            return found(tid, stamp);
        }
    }
    Ok(())
}

/// The CPU of the mode that is in force. A child of fork has its parent's stamp, and another mode.
fn cpu_of(stamp: u64) -> Option<u32> {
    (mode_lock::mode() == CONFINED).then_some(())?;
    (stamp as u32).checked_sub(1)
}

/// Records a violation, if the mode has been in force since `stamp` was read.
fn found(thread: i32, stamp: u64) -> Result<(), Refusal> {
    if cpu_of(stamp).is_none() || STAMP.load(SeqCst) != stamp {
        return seen();
    }
    // The first one is reported.
    let _ = SEEN.compare_exchange(0, thread, SeqCst, SeqCst);
    // If this fails, leaving retries.
    let _ = restore_lock(stamp);
    seen()
}

/// Restores LOCK everywhere, and stays in the mode.
fn restore_lock(stamp: u64) -> Result<(), Refusal> {
    let mut guard = mode_lock::lock()?;
    if STAMP.load(SeqCst) == stamp {
        guard.data().edits.restore()?;
        membarrier::register_sync_core()?;
        membarrier::sync_core()?;
    }
    Ok(())
}
