//! The calling thread's rseq area: the C library's, or one that we register, or none.
//!
//! # States
//! Of the process, decided at the first use and then for ever: `LIBC`, every thread has an area at one distance from its
//! thread pointer; `OWN`, each thread registers at its first use; `NONE`, with an errno that says why.
//! Of a thread under `OWN`: null, not tried; below 4096, the errno with which it failed; else the area.
//!
//! # Invariants
//! 1. Under `LIBC` every thread that runs code of ours is registered: glibc registers a thread before its first
//!    instruction of ours, and ends the process where that fails.
//! 2. An area of ours has one owner, by process and thread. It is never unmapped, and gets a new owner only when the
//!    kernel says that the thread is gone: until then the kernel may write to it.
//! 3. A thread that has no area uses portable slots, which no sequence touches.
//! 4. Nobody writes `cpu_id_start`, `cpu_id`, `node_id`, `mm_cid` of an area that is registered: newer kernels kill
//!    the process for it.
//!
//! # Cost
//! Under `LIBC`, a load. Under `OWN`, a call and three loads; at a thread's first use a system call for it, and one for
//! each area in use to see whether its thread is gone. A thread that cannot register tries once.
//!
//! # Safety
//! 1. Areas are in pages that are never unmapped (Invariant 2).
#![expect(unsafe_code, reason = "areas that the kernel writes to")]

use super::backend::{Backend, Reason, Report};
use super::index::{Index, by_cid};
use super::slots::{self, PORTABLE};
use crate::arch::rseq::{Area, SIGNATURE};
use crate::arch::{Cid, Cpu, Id};
pub(super) use crate::sys::map::{release, reserve};
use crate::sys::{fork, rseq, signals, task};
use core::cell::Cell;
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicBool, AtomicIsize, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::thread_local;

/// Under `LIBC` the distance to the area; 0 before the decision, and otherwise.
static CPU_AREA: AtomicIsize = AtomicIsize::new(0);
/// The same, where `mm_cid` is live.
static CID_AREA: AtomicIsize = AtomicIsize::new(0);
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

thread_local! {
    static AREA: AtomicPtr<u8> = const { AtomicPtr::new(ptr::null_mut()) };
    static PREFERRED: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// A thread's registered area, and the id that it is used with.
#[derive(Clone, Copy, Debug)]
pub(super) enum Own {
    Cpu(Area),
    Cid(Area),
}

impl Own {
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
            // SAFETY: as above.
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
pub(super) fn resolve<I: Index>() -> Option<Own> {
    match state() & KIND {
        LIBC => Some(Own::new::<I>(Area(CPU_AREA.load(Ordering::Relaxed)))),
        OWN => thread_area().ok().map(Own::new::<I>),
        _ => None,
    }
}

fn state() -> u32 {
    // Acquire: pairs with the Release of `decide`, for CPU_AREA.
    match STATE.load(Ordering::Acquire) {
        UNDECIDED => decide(),
        state => state,
    }
}

/// Decides, the same whoever asks first but for a thread that another library has registered.
#[cold]
fn decide() -> u32 {
    static HOOKED: AtomicBool = AtomicBool::new(false);
    if !HOOKED.swap(true, Ordering::Relaxed) {
        // Without the hook a child finds some portable slots taken for ever, and uses others.
        let _ = fork::in_child(after_fork);
    }
    let none = |why: i32| NONE | (why as u32) << 8;
    let new = if !rseq::stay_loaded() {
        none(MAY_GO)
    } else if let Some((distance, registered)) = rseq::of_libc() {
        let area = Area(distance);
        // SAFETY: libc's area of this thread, whether registered or not.
        if (unsafe { area.id::<Cpu>() } as i32) < 0 {
            none(LEFT_OUT)
        } else {
            CPU_AREA.store(distance, Ordering::Relaxed);
            if registered.min(rseq::features()) >= WITH_CID {
                CID_AREA.store(distance, Ordering::Relaxed);
            }
            LIBC
        }
    } else {
        thread_area().map_or_else(none, |_| OWN)
    };
    // Release: pairs with the Acquire of `state`.
    match STATE.compare_exchange(UNDECIDED, new, Ordering::Release, Ordering::Acquire) {
        Ok(_) => new,
        Err(theirs) => theirs,
    }
}

/// Whether `mm_cid` is written: for all threads or none.
fn cid_is_live() -> bool {
    match STATE.load(Ordering::Acquire) & KIND {
        LIBC => CID_AREA.load(Ordering::Relaxed) != 0,
        _ => length().min(rseq::features()) >= WITH_CID,
    }
}

/// The area of the calling thread under `OWN`.
fn thread_area() -> Result<Area, i32> {
    AREA.with(|area| {
        // Relaxed, here and below: the thread's own, and a handler's on it.
        if area.load(Ordering::Relaxed).is_null() {
            let new = claim();
            // A handler may have been here first.
            let published = area.compare_exchange(ptr::null_mut(), new, Ordering::Relaxed, Ordering::Relaxed);
            if published.is_err() {
                give_back(new);
            }
        }
        let at = area.load(Ordering::Relaxed);
        if at.addr() < 4096 {
            return Err(at.addr() as i32);
        }
        let at = NonNull::new(at).ok_or(libc::ENOMEM)?;
        let found = Area::at(at);
        // SAFETY: an area of ours, registered or not.
        if (unsafe { found.id::<Cpu>() } as i32) >= 0 {
            return Ok(found);
        }
        // SAFETY: this thread's until it is gone (Invariant 2).
        match unsafe { rseq::register(at, length(), SIGNATURE) } {
            Ok(()) => Ok(found),
            Err(errno) => {
                give_back(at.as_ptr());
                area.store(ptr::without_provenance_mut(errno as usize), Ordering::Relaxed);
                Err(errno)
            }
        }
    })
}

/// Length of our areas: what the kernel wants, unless that is more than an entry holds. Then the original one.
fn length() -> usize {
    match rseq::shape() {
        (length, align) if length <= ENTRY / 2 && align <= ENTRY / 2 => length,
        _ => 32,
    }
}

/// Bytes of an entry: half for its owner, half for the area. A whole page of entries, the first of which is the page's.
const ENTRY: usize = 256;
const PAGE: usize = 4096;

/// The newest page of areas; each begins with the address of the one before.
static PAGES: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());

/// The owner's word of the entry at `at`.
fn owner<'a>(at: *mut u8) -> &'a AtomicU64 {
    // SAFETY: an entry is 256 zeroed bytes of a page that stays (Invariant 1), and its first word is an atomic.
    unsafe { AtomicU64::from_ptr(at.cast()) }
}

fn me() -> u64 {
    u64::from(rseq::process() as u32) << 32 | u64::from(task::current_tid() as u32)
}

/// An area for the calling thread, set up as not registered; an errno as an address where there is no memory.
fn claim() -> *mut u8 {
    let is_free = |who: u64| {
        let ours = (who >> 32) as i32 == rseq::process();
        who == 0 || ours && rseq::is_gone(who as i32)
    };
    loop {
        // Acquire: pairs with the Release below.
        let mut page = PAGES.load(Ordering::Acquire);
        while !page.is_null() {
            for n in 1..PAGE / ENTRY {
                let entry = page.wrapping_add(n * ENTRY);
                let who = owner(entry).load(Ordering::Relaxed);
                // Acquire: pairs with the Release of `give_back`.
                let mine = || {
                    owner(entry)
                        .compare_exchange(who, me(), Ordering::Acquire, Ordering::Relaxed)
                        .is_ok()
                };
                if is_free(who) && mine() {
                    return prepare(entry);
                }
            }
            page = ptr::with_exposed_provenance_mut(owner(page).load(Ordering::Relaxed) as usize);
        }
        let Ok(new) = reserve(PAGE) else {
            return ptr::without_provenance_mut(libc::ENOMEM as usize);
        };
        let newest = PAGES.load(Ordering::Relaxed);
        owner(new.as_ptr()).store(newest.expose_provenance() as u64, Ordering::Relaxed);
        // Release: pairs with the Acquire above.
        let linked = PAGES.compare_exchange(newest, new.as_ptr(), Ordering::Release, Ordering::Relaxed);
        if linked.is_err() {
            // SAFETY: reserved above, and seen by nobody.
            unsafe { release(new, PAGE) };
        }
    }
}

/// What an area holds before it is registered: zeroes, and the id that says so.
fn prepare(entry: *mut u8) -> *mut u8 {
    let area = entry.wrapping_add(ENTRY / 2);
    // SAFETY: the second half of an entry that has just become ours, and that no kernel thread writes (Invariant 2).
    unsafe { area.write_bytes(0, ENTRY / 2) };
    let id = area.wrapping_add(Cpu::AT).cast::<u32>();
    // SAFETY: as above.
    unsafe { id.write(u32::MAX) };
    area
}

/// Gives back an area that is not registered.
fn give_back(area: *mut u8) {
    if area.addr() >= 4096 {
        // Release: pairs with the Acquire of who claims it.
        owner(area.wrapping_sub(ENTRY / 2)).store(0, Ordering::Release);
    }
}

/// What the child of a fork does before anything else of ours.
extern "C" fn after_fork() {
    slots::after_fork();
    super::area::after_fork();
    AREA.with(|area| {
        let at = area.load(Ordering::Relaxed);
        if at.addr() >= 4096 {
            // The kernel copied the registration, and the thread has another number now.
            owner(at.wrapping_sub(ENTRY / 2)).store(me(), Ordering::Relaxed);
        }
    });
}

/// A number that every id is below.
#[inline]
pub(super) fn ids() -> usize {
    match IDS.load(Ordering::Relaxed) {
        0 => {
            let ids = rseq::ids();
            IDS.store(ids, Ordering::Relaxed);
            ids
        }
        ids => ids,
    }
}

/// A number of the calling thread's, not 0, and the same after a fork.
pub(super) fn token() -> usize {
    AREA.with(|area| ptr::from_ref(area).addr())
}

/// The portable slot that the calling thread had last.
pub(super) fn preferred() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    match PREFERRED.get() {
        usize::MAX => {
            let n = NEXT.fetch_add(1, Ordering::Relaxed) % PORTABLE;
            prefer(n);
            n
        }
        n => n,
    }
}

/// Sets that.
pub(super) fn prefer(slot: usize) {
    PREFERRED.set(slot);
}

/// While this lives no handler of the calling thread's runs.
pub(super) fn quiet() -> signals::Blocked {
    signals::Blocked::all()
}

/// What is in force for the calling thread.
pub(super) fn report() -> Report {
    let state = state();
    let refusal = |why: i32| match why {
        MAY_GO => Reason::MayBeUnloaded,
        LEFT_OUT => Reason::LeftOut,
        libc::EINVAL => Reason::Foreign,
        errno => Reason::Refused { errno },
    };
    let (backend, reason) = match state & KIND {
        LIBC => (Backend::Rseq, Reason::Libc),
        OWN => match thread_area() {
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
