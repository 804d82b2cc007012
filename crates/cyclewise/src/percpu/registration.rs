//! The calling thread's rseq area: the C library's, or one that we register, or none.
//!
//! # States
//! Of the process, decided at the first use and then for ever: `LIBC`, every thread has an area at one distance from its
//! thread pointer; `OWN`, each thread registers at its first use (see `self_registered`); `NONE`, with an errno that says why.
//!
//! # Invariants
//! 1. Under `LIBC` every thread that runs code of ours is registered: glibc registers a thread before its first
//!    instruction of ours, and ends the process where that fails.
//! 2. The distance is handed out by [`fast`] only once `LIBC` is decided, for good.
//! 3. A thread that has no area uses portable slots, which no sequence touches.
//! 4. Nobody writes `cpu_id_start`, `cpu_id`, `node_id`, `mm_cid` of an area that is registered: newer kernels kill
//!    the process for it.
//! 5. How many ids there are is decided once for the process, whatever a filter says to who asks later: areas are mapped and
//!    unmapped by that number.
//!
//! # What it cannot promise
//! A filter that is installed after the process's first use, and then answers rseq(2) with 0 for the kernel, leaves later threads
//! without an id: glibc says -1 there, and such a thread ends the process by SIGSEGV in its first sequence, far outside of
//! every area. One that refuses the call has glibc end the process itself. A filter that is there before the first use
//! is found out, and portable slots are used.
//!
//! # Cost
//! Under `LIBC`, a load. Under `OWN`, a call and three loads; at a thread's first use a system call for it, and one for
//! each area in use to see whether its thread is gone. A thread that cannot register tries once.
//!
//! # Safety
//! 1. An area is read by the thread that it is of.
#![expect(unsafe_code, reason = "areas that the kernel writes to")]

mod self_registered;
#[cfg(test)]
mod tests;
mod thread;

use super::backend::{Backend, Reason, Report};
use super::index::{Index, by_cid};
use super::slots;
use crate::arch::rseq::Area;
use crate::arch::static_libc::rseq_words;
use crate::arch::{Cid, Cpu, Id};
use crate::error::Refusal;
pub(super) use crate::sys::map::{release, reserve};
use crate::sys::{fork, rseq, signals};
use core::sync::atomic::{AtomicBool, AtomicIsize, AtomicU32, AtomicUsize, Ordering};
pub(super) use thread::{Holder, holder, name, prefer, preferred, renew, token};

/// Under `LIBC` the distance to the area; 0 before somebody has found that, and otherwise.
static CPU_AREA: AtomicIsize = AtomicIsize::new(0);
/// The same, where `mm_cid` is live.
static CID_AREA: AtomicIsize = AtomicIsize::new(0);
/// What the C library says that the distance is, and whether `mm_cid` is live there; set before the state is decided.
static FOUND: AtomicIsize = AtomicIsize::new(0);
static FOUND_CID: AtomicBool = AtomicBool::new(false);
/// The state, and above it an errno.
static STATE: AtomicU32 = AtomicU32::new(UNDECIDED);
static IDS: AtomicUsize = AtomicUsize::new(0);

const UNDECIDED: u32 = 0; // nobody has looked
const LIBC: u32 = 1; // the C library registers every thread
const OWN: u32 = 2; // we register each thread
const NONE: u32 = 3; // portable slots only
const KIND: u32 = 0xff; // the part of the state that is one of these

/// Not an errno: this link unit may be unmapped, so the kernel must not be given its descriptors.
const MAY_GO: i32 = 4094;
/// Not an errno: the C library says that it registers, and has not registered this thread.
const LEFT_OUT: i32 = 4095;

/// The end of `mm_cid` in `struct rseq`.
const WITH_CID: usize = Cid::AT + 4;

/// A thread's registered area, and the id that it is used with.
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

    /// Of what [`fast`] found.
    #[inline(always)]
    pub(super) fn fast<I: Index>(area: Area) -> Self {
        if by_cid::<I>() {
            Self::Cid(area)
        } else {
            Self::Cpu(area)
        }
    }

    /// The id now.
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

/// The thread's area where libc has registered, and the kernel has this id.
#[inline(always)]
pub(super) fn fast<I: Index>() -> Option<Area> {
    let area = if by_cid::<I>() { &CID_AREA } else { &CPU_AREA };
    // Relaxed: a number, and nothing is read by way of it but the thread's own.
    match area.load(Ordering::Relaxed) {
        0 => None,
        distance => Some(Area(distance)),
    }
}

/// The thread's area, registered if it has to be; none where portable slots are used.
pub(super) fn resolve<I: Index>() -> Option<RseqArea> {
    match state() & KIND {
        LIBC => Some(RseqArea::new::<I>(hand_out())),
        OWN => self_registered::thread_area().ok().map(RseqArea::new::<I>),
        _ => None,
    }
}

/// Lets [`fast`] have the distance (Invariant 2), and returns it. Under `LIBC`.
fn hand_out() -> Area {
    // Relaxed: constants by now, which `state` has acquired.
    let distance = FOUND.load(Ordering::Relaxed);
    if CPU_AREA.load(Ordering::Relaxed) == 0 {
        if FOUND_CID.load(Ordering::Relaxed) {
            CID_AREA.store(distance, Ordering::Relaxed);
        }
        CPU_AREA.store(distance, Ordering::Relaxed);
    }
    Area(distance)
}

fn state() -> u32 {
    // Acquire: pairs with the Release of `decide`, for what was found.
    match STATE.load(Ordering::Acquire) {
        UNDECIDED => decide(),
        state => state,
    }
}

/// Decides, the same whoever asks first but for a thread that another library has registered.
#[cold]
fn decide() -> u32 {
    register_atfork();
    let none = |why: i32| NONE | (why as u32) << 8;
    let new = if !rseq::stay_loaded() {
        none(MAY_GO)
    } else if let Some((distance, registered)) = rseq::of_libc(rseq_words()) {
        // The same whoever finds it.
        FOUND.store(distance, Ordering::Relaxed);
        FOUND_CID.store(has_cid(registered), Ordering::Relaxed);
        // SAFETY: libc's area of this thread, whether registered or not.
        match (unsafe { Area(distance).id::<Cpu>() }) as i32 {
            ..0 => none(LEFT_OUT),
            // The C library was told that it went well, or later threads will be, and no kernel knows of them.
            _ if !rseq::is_made() => none(libc::ENOSYS),
            _ => LIBC,
        }
    } else {
        self_registered::thread_area().map_or_else(none, |_| OWN)
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
        LIBC => FOUND_CID.load(Ordering::Relaxed),
        _ => has_cid(self_registered::length()),
    }
}

/// Has children of a fork give back what threads held that they do not have, where they cannot tell by themselves: portable
/// slots. Before one is taken.
pub(super) fn register_atfork() {
    static HEEDED: AtomicBool = AtomicBool::new(false);
    // Acquire: pairs with the Release below, for who goes on to take a lock. Two that come at once both register it, which
    // does no harm.
    if !HEEDED.load(Ordering::Acquire) {
        // A handler in the middle would wait for the C library's lock of such functions.
        let _blocked = block_signals();
        // Without the hook a child finds some portable slots taken for ever, and uses others.
        let _ = fork::in_child(after_fork);
        HEEDED.store(true, Ordering::Release);
    }
}

/// Of how many forks this process is a child.
static FORKS: AtomicU32 = AtomicU32::new(0);

/// That number, which changes in a child of a fork before anything else of its runs.
pub(super) fn forks() -> u32 {
    // Relaxed: the child has one thread when it changes.
    FORKS.load(Ordering::Relaxed)
}

/// What the child of a fork does before anything else of ours.
extern "C" fn after_fork() {
    FORKS.fetch_add(1, Ordering::Relaxed);
    slots::after_fork();
    self_registered::after_fork();
}

/// A number that every id is below.
#[inline]
pub(super) fn ids() -> usize {
    match IDS.load(Ordering::Relaxed) {
        0 => find_ids(),
        ids => ids,
    }
}

/// Finds it, once: what is mapped by one number must not be used by another, and a filter may come between two who ask.
#[cold]
fn find_ids() -> usize {
    let found = rseq::ids();
    match IDS.compare_exchange(0, found, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => found,
        Err(theirs) => theirs,
    }
}

/// While this lives no handler of the calling thread's runs, but of faults and of a filter's SIGSYS.
///
/// # Errors
/// Where a filter refuses that, or only says that it went well.
pub(super) fn block_signals() -> Result<signals::Blocked, Refusal> {
    signals::Blocked::of_others()
}

/// What is in force for the calling thread.
pub(super) fn report() -> Report {
    // For handlers to come, which must not be the first to use the thread's words.
    let _ = preferred();
    let state = state();
    let refusal = |why: i32| match why {
        MAY_GO => Reason::MayBeUnloaded,
        LEFT_OUT => Reason::LeftOut,
        libc::EINVAL => Reason::Foreign,
        errno => Reason::Refused { errno },
    };
    let (backend, reason) = match state & KIND {
        LIBC => (Backend::Rseq, Reason::Libc),
        OWN => match self_registered::thread_area() {
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
