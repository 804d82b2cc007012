//! The calling thread's rseq area: one that the C library registered, one that this crate registers, or none.
//!
//! # States
//! The process chooses one at its first use and keeps it. `LIBC`: every thread has an area at the same distance from its thread
//! pointer. `SELF`: each thread registers an area of this crate at its first use (see `self_registered`). `NONE`: no areas, with an
//! errno that says why.
//!
//! # Invariants
//! 1. Under `LIBC` every thread that runs this code is registered: glibc registers a thread before it runs any other code,
//!    and ends the process if that fails.
//! 2. [`libc_area`] returns the distance only once `LIBC` is chosen for good.
//! 3. A thread without an area uses portable slots, which no sequence touches.
//! 4. Nothing in user space writes `cpu_id_start`, `cpu_id`, `node_id` or `mm_cid` of a registered area: newer kernels kill
//!    the process for it.
//! 5. The bound of the ids is read once for the process, whatever a filter answers later: memory is mapped and unmapped by that
//!    number.
//! 6. The first use calls the dynamic linker and the C library, which may allocate. Where the process's allocator uses this module, and
//!    in a signal handler, the thread is inside its first use: it uses portable slots, and calls neither a second time.
//!
//! # What it cannot promise
//! A filter that is installed after the process's first use, and answers rseq(2) with 0 in the kernel's place, leaves later threads
//! without an id: glibc then reports the id -1, and such a thread ends the process by SIGSEGV in its first sequence, far outside
//! every area. If the filter refuses the call, glibc itself ends the process. A filter that is installed before the first
//! use is detected, and portable slots are used.
//!
//! # Cost
//! Under `LIBC`, a load. Under `SELF`, a call and three loads; a thread's first use makes one system call to register, and one for
//! each area in use to see whether its thread is gone. A thread that cannot register tries once.
//!
//! # Safety
//! 1. Only its own thread reads an area.
#![expect(unsafe_code, reason = "areas that the kernel writes to")]

mod area_claim;
mod placement;
mod self_registered;
#[cfg(test)]
mod tests;
mod trial;

use super::backend::{Backend, Reason, Report};
use super::index::{Index, by_cid};
use super::{portable, thread};
use crate::arch::rseq::Area;
use crate::arch::static_libc::rseq_words;
use crate::arch::{Cid, Cpu, Id};
use crate::error::Refusal;
pub(super) use crate::sys::membarrier::rseq as restart_sequences;
pub(super) use crate::sys::mmap::{release, reserve};
use crate::sys::signal_mask::{self, BlockedSignals};
use crate::sys::{affinity, atfork, dl, errno, rseq};
use core::cell::Cell;
use core::sync::atomic::{AtomicBool, AtomicIsize, AtomicU32, AtomicUsize, Ordering};
use std::thread_local;

thread_local! {
    /// Whether the thread is inside a first use (Invariant 6).
    static IN_FIRST_USE: Cell<bool> = const { Cell::new(false) };
}

/// Under `LIBC` the distance to the area, once it was published; otherwise 0.
static CPU_AREA: AtomicIsize = AtomicIsize::new(0);
/// The same, where `mm_cid` is live.
static CID_AREA: AtomicIsize = AtomicIsize::new(0);
/// The distance according to the C library, and whether `mm_cid` is live there. Set before the state is chosen.
static LIBC_DISTANCE: AtomicIsize = AtomicIsize::new(0);
static LIBC_HAS_CID: AtomicBool = AtomicBool::new(false);
/// The state, and above it an errno.
static STATE: AtomicU32 = AtomicU32::new(UNDECIDED);
static ID_BOUND: AtomicUsize = AtomicUsize::new(0);

const UNDECIDED: u32 = 0; // not used yet
const LIBC: u32 = 1; // the C library registers every thread
const SELF: u32 = 2; // this crate registers each thread
const NONE: u32 = 3; // portable slots only
const KIND: u32 = 0xff; // the bits of the state that hold one of these

/// Not an errno: a sequence that was interrupted went on.
const NOT_RESTARTED: i32 = 4092;
/// Not an errno: sequences are not where their descriptors say, or it cannot be found out where they are.
const MOVED: i32 = 4093;
/// Not an errno: this link unit may be unmapped, so the kernel must not be given its descriptors.
const MAY_BE_UNLOADED: i32 = 4094;
/// Not an errno: the C library says that it registers threads, and has not registered this one.
const LEFT_OUT: i32 = 4095;

/// The end of `mm_cid` in `struct rseq`.
const WITH_CID: usize = Cid::AT + 4;

/// A thread's registered area, and the id that is read from it.
#[derive(Clone, Copy, Debug)]
pub(super) enum RseqArea {
    Cpu(Area),
    Cid(Area),
}

impl RseqArea {
    fn new<I: Index>(area: Area) -> Self {
        if by_cid::<I>() && cid_is_live() {
            Self::Cid(area)
        } else {
            Self::Cpu(area)
        }
    }

    /// What [`libc_area`] returned for this index.
    #[inline(always)]
    pub(super) fn of_libc<I: Index>(area: Area) -> Self {
        if by_cid::<I>() {
            Self::Cid(area)
        } else {
            Self::Cpu(area)
        }
    }

    #[inline(always)]
    pub(super) fn id(self) -> u32 {
        match self {
            // SAFETY: the thread's registered area.
            Self::Cpu(area) => unsafe { area.id::<Cpu>() },
            // SAFETY: the thread's registered area, where the kernel publishes `mm_cid`.
            Self::Cid(area) => unsafe { area.id::<Cid>() },
        }
    }
}

/// The fast path of [`thread_area`]: the thread's area where the C library registered it and the kernel has this id.
#[inline(always)]
pub(super) fn libc_area<I: Index>() -> Option<Area> {
    let area = if by_cid::<I>() { &CID_AREA } else { &CPU_AREA };
    // Relaxed: a number, by which the thread reads only its own memory.
    match area.load(Ordering::Relaxed) {
        0 => None,
        distance => Some(Area(distance)),
    }
}

/// A place for what [`libc_area`] returns, next to what else an operation loads: a static of another crate costs a load of its
/// address, too.
#[derive(Debug)]
pub(super) struct LibcArea(AtomicIsize);

impl LibcArea {
    /// Not known yet.
    pub(super) const fn unknown() -> Self {
        Self(AtomicIsize::new(0))
    }

    /// The thread's area, if `learn` has found it. Acquire: pairs with the Release of `learn`.
    #[inline(always)]
    pub(super) fn get(&self) -> Option<Area> {
        match self.0.load(Ordering::Acquire) {
            0 => None,
            distance => Some(Area(distance)),
        }
    }

    /// The same for a caller that has acquired what was published after `learn`: Relaxed.
    #[inline(always)]
    pub(super) fn known(&self) -> Option<Area> {
        match self.0.load(Ordering::Relaxed) {
            0 => None,
            distance => Some(Area(distance)),
        }
    }

    /// Stores what [`libc_area`] returns, for all threads. Release: publishes what the caller has stored before.
    pub(super) fn learn<I: Index>(&self) {
        if let Some(Area(distance)) = libc_area::<I>()
            && self.0.load(Ordering::Relaxed) == 0
        {
            self.0.store(distance, Ordering::Release);
        }
    }
}

/// The thread's area, registered if necessary; `None` where portable slots are used.
pub(super) fn thread_area<I: Index>() -> Option<RseqArea> {
    match state() & KIND {
        LIBC => Some(RseqArea::new::<I>(publish_libc_area())),
        SELF => self_registered::thread_area().ok().map(RseqArea::new::<I>),
        _ => None,
    }
}

/// Lets [`libc_area`] return the distance (Invariant 2), and returns it. Under `LIBC`.
fn publish_libc_area() -> Area {
    // Relaxed: constants by now, which `state` has acquired.
    let distance = LIBC_DISTANCE.load(Ordering::Relaxed);
    if CPU_AREA.load(Ordering::Relaxed) == 0 {
        if LIBC_HAS_CID.load(Ordering::Relaxed) {
            CID_AREA.store(distance, Ordering::Relaxed);
        }
        CPU_AREA.store(distance, Ordering::Relaxed);
    }
    Area(distance)
}

fn state() -> u32 {
    // Acquire: pairs with the Release of `decide`, for the distance.
    match STATE.load(Ordering::Acquire) {
        UNDECIDED => decide(),
        state => state,
    }
}

/// Chooses the state. Every thread chooses the same, except one that another library has registered. Preserves errno: a signal
/// handler may be the first to use per-CPU data.
#[cold]
fn decide() -> u32 {
    // Inside the first use nothing has promised yet that this object stays loaded. That is no choice, and is not stored.
    errno::preserve(|| first_use(choose)).unwrap_or(none(MAY_BE_UNLOADED))
}

/// Runs `run`, unless the thread is inside such a call.
fn first_use<T>(run: impl FnOnce() -> T) -> Option<T> {
    let outermost = !IN_FIRST_USE.replace(true);
    outermost.then(|| {
        let result = run();
        IN_FIRST_USE.set(false);
        result
    })
}

/// No areas, with this reason.
fn none(why: i32) -> u32 {
    NONE | (why as u32) << 8
}

fn choose() -> u32 {
    register_atfork_once();
    let new = if !dl::stay_loaded() {
        none(MAY_BE_UNLOADED)
    } else if let Some((distance, registered)) = rseq::of_libc(rseq_words()) {
        // The same in every thread.
        LIBC_DISTANCE.store(distance, Ordering::Relaxed);
        LIBC_HAS_CID.store(has_cid(registered), Ordering::Relaxed);
        // SAFETY: libc's area of this thread, whether registered or not.
        match (unsafe { Area(distance).id::<Cpu>() }) as i32 {
            ..0 => none(LEFT_OUT),
            // A filter answered the C library in the kernel's place, or will answer for later threads.
            _ if !rseq::is_made() => none(libc::ENOSYS),
            // SAFETY: this thread's area, which is registered.
            _ if !unsafe { placement::are_in_place(Area(distance)) } => none(MOVED),
            // SAFETY: this thread's area, which is registered.
            _ if !unsafe { trial::are_restarted(Area(distance)) } => none(NOT_RESTARTED),
            _ => LIBC,
        }
    } else {
        match self_registered::thread_area() {
            // SAFETY: the area that this thread has registered.
            Ok(area) if !unsafe { placement::are_in_place(area) } => none(MOVED),
            // SAFETY: the area that this thread has registered.
            Ok(area) if !unsafe { trial::are_restarted(area) } => none(NOT_RESTARTED),
            Ok(_) => SELF,
            Err(why) => none(why),
        }
    };
    // Release: pairs with the Acquire of `state`; Acquire on failure, for the same.
    match STATE.compare_exchange(UNDECIDED, new, Ordering::Release, Ordering::Acquire) {
        Ok(_) => new,
        Err(theirs) => theirs,
    }
}

/// Whether the kernel writes `mm_cid` to an area of this length.
fn has_cid(length: usize) -> bool {
    length.min(rseq::features()) >= WITH_CID
}

/// Whether `mm_cid` is written: for all threads or none.
fn cid_is_live() -> bool {
    match state() & KIND {
        LIBC => LIBC_HAS_CID.load(Ordering::Relaxed),
        _ => has_cid(self_registered::length()),
    }
}

/// Registers the atfork handler, once. Called before any portable slot is locked, except inside a first use, which goes on to register it.
pub(super) fn register_atfork() {
    first_use(register_atfork_once);
}

fn register_atfork_once() {
    static REGISTERED: AtomicBool = AtomicBool::new(false);
    // Acquire: pairs with the Release below, for a thread that goes on to take a lock. Two threads at once may both register
    // the handler, which does no harm.
    if !REGISTERED.load(Ordering::Acquire) {
        // A signal handler that registered too would wait for the C library's lock of atfork handlers.
        let _blocked = block_signals();
        // If this fails, a child finds some portable slots locked for ever, and uses others.
        let _ = atfork::register_atfork(None, None, Some(after_fork));
        REGISTERED.store(true, Ordering::Release);
    }
}

/// The atfork handler, in the child.
extern "C" fn after_fork() {
    let (old, new) = thread::renew_token();
    portable::after_fork(old, new);
    self_registered::after_fork();
}

/// A number above every id.
#[inline]
pub(super) fn id_bound() -> usize {
    match ID_BOUND.load(Ordering::Relaxed) {
        0 => find_id_bound(),
        bound => bound,
    }
}

/// Finds it, once (Invariant 5): a filter may be installed between two threads' calls.
#[cold]
fn find_id_bound() -> usize {
    let found = affinity::cpu_id_limit();
    match ID_BOUND.compare_exchange(0, found, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => found,
        Err(theirs) => theirs,
    }
}

/// While the result lives, the calling thread runs no signal handlers, except for faults and a filter's SIGSYS.
///
/// # Errors
/// A filter refuses the call, or answers it in the kernel's place.
pub(super) fn block_signals() -> Result<BlockedSignals, Refusal> {
    signal_mask::block_signals()
}

/// The calling thread's backend.
pub(super) fn report() -> Report {
    // Signal handlers must not be the first to use the thread's words.
    let _ = thread::preferred();
    let state = state();
    let refusal = |why: i32| match why {
        MAY_BE_UNLOADED => Reason::MayBeUnloaded,
        LEFT_OUT => Reason::LeftOut,
        MOVED => Reason::Moved,
        NOT_RESTARTED => Reason::NotRestarted,
        libc::EINVAL => Reason::Foreign,
        errno => Reason::Refused { errno },
    };
    let (backend, reason) = match state & KIND {
        LIBC => (Backend::Rseq, Reason::Libc),
        SELF => match self_registered::thread_area() {
            Ok(_) => (Backend::Rseq, Reason::Registered),
            Err(why) => (Backend::Portable, refusal(why)),
        },
        _ => (Backend::Portable, refusal((state >> 8) as i32)),
    };
    Report {
        backend,
        reason,
        cid: backend == Backend::Rseq && cid_is_live(),
    }
}
