//! The areas that this crate registers where the C library registers none: one for each thread, in pages that are never unmapped.
//!
//! # States
//! A thread's word: null, not tried; below 4096, the errno of its failure; otherwise its registered area.
//! An entry of a page: see `area_claim`.
//!
//! # Invariants
//! 1. An area has one owner, a thread of a process. It is never unmapped, and gets a new owner only when the kernel reports
//!    the thread gone, and the calling thread not: until then the kernel may write to it. The process is identified by
//!    its generation, because pids are reused; and in a child of `_Fork`, for which no handler runs, its thread's area still
//!    belongs to the ancestor.
//! 2. A thread registers with its signals blocked. So no signal handler of the thread interrupts that and registers too, and an area
//!    is given back once after a refusal.
//! 3. An area that a thread has published is registered, and the kernel has written an id to it. A filter may report
//!    success without making the call.
//!
//! # Safety
//! 1. Areas are in pages that are never unmapped (Invariant 1).
#![expect(unsafe_code, reason = "areas that the kernel writes to")]

use super::area_claim::{self, AreaEntry};
use super::{release, reserve};
use crate::arch::rseq::{Area, SIGNATURE};
use crate::arch::{Cpu, Id};
use crate::sys::{errno, fork_generation, rseq, signal_mask, thread};
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::thread_local;

thread_local! {
    static AREA: AtomicPtr<u8> = const { AtomicPtr::new(ptr::null_mut()) };
}

/// A word below this is an errno, not an address.
const FIRST_ADDRESS: usize = 4096;

/// The calling thread's area. Its first call registers it. Preserves errno.
///
/// # Errors
/// The errno of the registration, the same at every call.
pub(super) fn thread_area() -> Result<Area, i32> {
    // Relaxed: only the thread and its signal handlers use it.
    AREA.with(|area| known(area.load(Ordering::Relaxed)))
        .unwrap_or_else(|| errno::preserve(register))
}

/// The result that the thread's word holds, if registration was tried.
fn known(at: *mut u8) -> Option<Result<Area, i32>> {
    match at.addr() {
        0 => None,
        errno @ 1..FIRST_ADDRESS => Some(Err(errno as i32)),
        _ => NonNull::new(at).map(|at| Ok(Area::at(at))),
    }
}

#[cold]
fn register() -> Result<Area, i32> {
    let blocked = signal_mask::block_signals();
    AREA.with(|area| {
        // A signal handler may have registered before they were blocked.
        if let Some(known) = known(area.load(Ordering::Relaxed)) {
            return known;
        }
        // If signals cannot be blocked, nothing is registered, and nothing has to be given back.
        let result = if blocked.is_ok() {
            register_new()
        } else {
            Err(libc::EPERM)
        };
        let word = result.unwrap_or_else(|errno| ptr::without_provenance_mut(errno as usize));
        // Relaxed: only the thread reads it (Invariant 3).
        area.store(word, Ordering::Relaxed);
        result.and_then(|at| NonNull::new(at).map(Area::at).ok_or(libc::ENOMEM))
    })
}

fn register_new() -> Result<*mut u8, i32> {
    let at = claim()?;
    let address = NonNull::new(at).ok_or(libc::ENOMEM)?;
    // SAFETY: `claim` gave it to this thread for its lifetime (Invariant 1), with the length and alignment of `fitting`.
    let registered = unsafe { rseq::register(address, length(), SIGNATURE) }.and_then(|()| {
        // SAFETY: `claim` gave it to this thread, and its words can be loaded, registered or not.
        let id = unsafe { Area::at(address).id::<Cpu>() };
        // Still all ones, as `prepare` left it: the call was not made (Invariant 3).
        if (id as i32) < 0 { Err(libc::ENOSYS) } else { Ok(()) }
    });
    registered.map(|()| at).inspect_err(|_| give_back(at))
}

/// The length of an area: what the kernel asks for, or the original length if that does not fit an entry.
pub(super) fn length() -> usize {
    fitting(rseq::shape())
}

/// The same for a kernel that asks for this length and alignment.
pub(super) fn fitting(shape: (usize, usize)) -> usize {
    match shape {
        (length, align) if length <= ENTRY / 2 && align <= ENTRY / 2 => length,
        _ => rseq::ORIGINAL_AREA,
    }
}

/// Bytes of an entry: half for its owner, half for the area. The first entry of a page holds the page's link instead.
const ENTRY: usize = 256;
const PAGE: usize = 4096;

/// The newest page of areas. Each page begins with the address of the one before it.
static PAGES: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());

/// The first word of a page: the address of the page before it.
fn link<'a>(page: *mut u8) -> &'a AtomicU64 {
    // SAFETY: 8 zeroed bytes at the start of a page that stays mapped (Safety 1), accessed only as an atomic.
    unsafe { AtomicU64::from_ptr(page.cast()) }
}

/// The first half of an entry: the area's owner.
#[repr(C)]
struct Head {
    claims: AtomicU64,
    owner: AtomicU64,
}
const _: () = assert!(size_of::<Head>() <= ENTRY / 2);

fn head<'a>(entry: *mut u8) -> &'a Head {
    // SAFETY: the first half of an entry: zeroed bytes of a page that stays mapped (Safety 1), accessed only as a `Head`.
    unsafe { &*entry.cast::<Head>() }
}

impl AreaEntry for &Head {
    fn claims(&self) -> u64 {
        self.claims.load(Ordering::Acquire)
    }
    fn owner(&self) -> u64 {
        self.owner.load(Ordering::Acquire)
    }
    fn begin(&self, claims: u64) -> bool {
        let begun = self
            .claims
            .compare_exchange(claims, claims + 1, Ordering::Acquire, Ordering::Relaxed);
        begun.is_ok()
    }
    fn set_owner(&self, owner: u64) {
        self.owner.store(owner, Ordering::Relaxed);
    }
    fn end(&self, claims: u64) {
        self.claims.store(claims, Ordering::Release);
    }
}

/// The calling thread as an owner.
fn me() -> u64 {
    u64::from(fork_generation::current()) << 32 | u64::from(thread::id() as u32)
}

/// Whether the kernel reports that a thread of this process has ended. A filter that reports that of the calling thread too
/// is not believed.
fn has_ended(tid: i32) -> bool {
    thread::is_gone(tid) && !thread::is_gone(thread::id())
}

/// Claims an area for the calling thread, in its unregistered state.
///
/// # Errors
/// ENOMEM.
fn claim() -> Result<*mut u8, i32> {
    let is_free = |owner: u64| {
        let ours = (owner >> 32) as u32 == fork_generation::current();
        owner == 0 || ours && has_ended(owner as i32)
    };
    loop {
        // Acquire: pairs with the Release below.
        let mut page = PAGES.load(Ordering::Acquire);
        while !page.is_null() {
            let mut entries = (1..PAGE / ENTRY).map(|n| page.wrapping_add(n * ENTRY));
            if let Some(mine) = entries.find(|&at| area_claim::claim(&head(at), me(), is_free)) {
                return Ok(prepare(mine));
            }
            // Relaxed: acquired with the newest page's address.
            page = ptr::with_exposed_provenance_mut(link(page).load(Ordering::Relaxed) as usize);
        }
        let new = reserve(PAGE).map_err(|_| libc::ENOMEM)?;
        let newest = PAGES.load(Ordering::Relaxed);
        link(new.as_ptr()).store(newest.expose_provenance() as u64, Ordering::Relaxed);
        // Release: pairs with the Acquire above.
        let linked = PAGES.compare_exchange(newest, new.as_ptr(), Ordering::Release, Ordering::Relaxed);
        if linked.is_err() {
            // SAFETY: reserved above for this length, and never shared.
            unsafe { release(new, PAGE) };
        }
    }
}

/// Writes an area's unregistered state: zeroes, and the id that means "not registered".
fn prepare(entry: *mut u8) -> *mut u8 {
    let area = entry.wrapping_add(ENTRY / 2);
    // SAFETY: the second half of an entry that this thread has just claimed, and that the kernel does not write (Invariant 1).
    unsafe { area.write_bytes(0, ENTRY / 2) };
    let id = area.wrapping_add(Cpu::AT).cast::<u32>();
    // SAFETY: inside that half.
    unsafe { id.write(u32::MAX) };
    area
}

/// Gives back an area that is not registered.
fn give_back(area: *mut u8) {
    // Release: pairs with the Acquire of the next claim.
    head(area.wrapping_sub(ENTRY / 2)).owner.store(0, Ordering::Release);
}

/// In the child of a fork: the kernel copied the registration, but the thread has a new tid.
pub(super) fn after_fork() {
    AREA.with(|area| {
        let at = area.load(Ordering::Relaxed);
        if at.addr() >= FIRST_ADDRESS {
            // Relaxed: another thread of the child reads another process's owner, or a live thread of this process.
            head(at.wrapping_sub(ENTRY / 2)).owner.store(me(), Ordering::Relaxed);
        }
    });
}
