//! Whether a thread was let out of confined mode's one CPU, which the promise of [`enter`](super::enter) rules out and
//! nobody can forbid: `taskset -ap`, a container's cpuset, a CPU that goes offline, a thread created with an affinity.
//!
//! Two looks tell. A thread that finds itself on another CPU was let out: [`check`]. So was one whose affinity is not the
//! one CPU: [`audit`], which reads every thread's. What either has seen is told until the mode is entered again, and LOCK is
//! put back at once: what was lost is lost, and no more will be. The mode stays in force until it is left, so that new
//! threads stay on the CPU.
//!
//! An affinity that was set and set back between two looks is not seen.
//!
//! # Memory ordering
//! [`STAMP`] is sequentially consistent, as the mode is. It is set when every thread is confined and taken away before any
//! is widened, and no two times have the same one: a look with one stamp before and after it was made inside the mode.

use crate::error::Refusal;
use crate::patch::mode_lock::{self, CONFINED};
use crate::sys::affinity::{self, CpuSet};
use crate::sys::{membarrier, tasks, thread};
use core::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering::SeqCst};

/// How often the mode was entered, and the CPU's number plus one; 0 where the mode is not in force.
static STAMP: AtomicU64 = AtomicU64::new(0);

/// The first thread that was seen let out since the mode was entered; 0 for none.
static SEEN: AtomicI32 = AtomicI32::new(0);

/// Every thread is confined to `cpu` from now on.
pub(super) fn begin(cpu: u32) {
    static TIMES: AtomicU32 = AtomicU32::new(0);
    let time = TIMES.fetch_add(1, SeqCst);
    SEEN.store(0, SeqCst);
    STAMP.store(u64::from(time) << 32 | u64::from(cpu + 1), SeqCst);
}

/// Threads may be widened from now on.
pub(super) fn end() {
    STAMP.store(0, SeqCst);
}

/// What was seen since the mode was last entered.
pub(super) fn seen() -> Result<(), Refusal> {
    match SEEN.load(SeqCst) {
        0 => Ok(()),
        thread => Err(Refusal::LetOut { thread }),
    }
}

/// Whether the calling thread is on confined mode's CPU, and no thread was seen let out of it since the mode was last
/// entered, if it ever was.
///
/// That it is there proves nothing of the other threads, nor of a moment ago; that it is not is proof. Four loads and
/// sched_getcpu(3), which reads the C library's restartable-sequence area, or else the vDSO: no system call.
///
/// # Errors
/// [`Refusal::LetOut`]: updates may be lost. LOCK is back then, as far as it can be had; leave the mode.
pub fn check() -> Result<(), Refusal> {
    let stamp = STAMP.load(SeqCst);
    seen()?;
    let Some(cpu) = cpu_of(stamp) else { return Ok(()) };
    if affinity::current()? == cpu {
        Ok(())
    } else {
        found(thread::id(), stamp)
    }
}

/// Whether every thread of the process has confined mode's CPU and no other in its affinity, and no thread was seen let
/// out of it since the mode was last entered, if it ever was. Leaving asks this, and so does each change of a
/// [static key](crate::static_key).
///
/// # Cost
/// Reading the list of threads, and a system call for each.
///
/// # Errors
/// [`Refusal::LetOut`]: updates may be lost. LOCK is back then, as far as it can be had; leave the mode. Others where
/// affinities cannot be read, and then nothing is known.
pub fn audit() -> Result<(), Refusal> {
    let stamp = STAMP.load(SeqCst);
    seen()?;
    let Some(cpu) = cpu_of(stamp) else {
        return Ok(());
    };
    let only = CpuSet::one(cpu)?;
    for tid in tasks::list()? {
        if affinity::get(tid)?.is_some_and(|has| has != only) {
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

/// A thread was seen let out, if the mode has been in force all the time since `stamp` was read.
fn found(thread: i32, stamp: u64) -> Result<(), Refusal> {
    if cpu_of(stamp).is_none() || STAMP.load(SeqCst) != stamp {
        return seen();
    }
    // The first is the one to tell.
    let _ = SEEN.compare_exchange(0, thread, SeqCst, SeqCst);
    // Where this is refused, leaving tries again.
    let _ = restore_lock(stamp);
    seen()
}

/// Puts LOCK back everywhere, and stays in the mode.
fn restore_lock(stamp: u64) -> Result<(), Refusal> {
    let mut guard = mode_lock::lock()?;
    if STAMP.load(SeqCst) == stamp {
        guard.data().edits.restore()?;
        membarrier::register_sync_core()?;
        membarrier::sync_core()?;
    }
    Ok(())
}
