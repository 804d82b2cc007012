//! Areas of our own, where the C library registers none: one for each thread, in pages that stay.
//!
//! # States
//! Of a thread: null, not tried; below 4096, the errno with which it failed; else its area, which is registered.
//! Of an entry in a page: see `percpu::entry`.
//!
//! # Invariants
//! 1. An area has one owner, by process and thread. It is never unmapped, and gets a new owner only when the kernel says
//!    that the thread is gone, and that the one who asks is not: until then the kernel may write to it. The process is told by
//!    its generation: an ancestor's pid comes round, and in a child of `_Fork`, for which no handler runs, the area of its
//!    thread is still called the ancestor's.
//! 2. A thread registers with its signals blocked. So no handler of its is in the middle of the same, and what is given back
//!    after a refusal is given back once.
//! 3. What a thread has published as its area has been registered, and the kernel has written an id to it. A filter may say
//!    that the call went well and not make it.
//!
//! # Safety
//! 1. Areas are in pages that are never unmapped (Invariant 1).
#![expect(unsafe_code, reason = "areas that the kernel writes to")]

use super::super::entry::{self, Entry};
use super::reserve;
use crate::arch::rseq::{Area, SIGNATURE};
use crate::arch::{Cpu, Id};
use crate::sys::map::release;
use crate::sys::{fork_generation, rseq, signals, task};
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::thread_local;

thread_local! {
    static AREA: AtomicPtr<u8> = const { AtomicPtr::new(ptr::null_mut()) };
}

/// Below this an address is none, but an errno.
const FIRST_ADDRESS: usize = 4096;

/// The area of the calling thread, which registers it at its first call.
///
/// # Errors
/// The errno with which that failed, the same at every call.
pub(super) fn thread_area() -> Result<Area, i32> {
    // Relaxed: the thread's own, and a handler's on it.
    AREA.with(|area| known(area.load(Ordering::Relaxed)))
        .unwrap_or_else(register)
}

/// What the thread's word says, if it has been tried.
fn known(at: *mut u8) -> Option<Result<Area, i32>> {
    match at.addr() {
        0 => None,
        errno @ 1..FIRST_ADDRESS => Some(Err(errno as i32)),
        _ => NonNull::new(at).map(|at| Ok(Area::at(at))),
    }
}

#[cold]
fn register() -> Result<Area, i32> {
    let blocked = signals::Blocked::of_others();
    AREA.with(|area| {
        // A handler may have been here before they were blocked.
        if let Some(known) = known(area.load(Ordering::Relaxed)) {
            return known;
        }
        // Where they cannot be blocked nothing is registered, so nothing is given back either.
        let result = if blocked.is_ok() {
            register_new()
        } else {
            Err(libc::EPERM)
        };
        let word = result.unwrap_or_else(|errno| ptr::without_provenance_mut(errno as usize));
        // Relaxed: the thread's own (Invariant 3).
        area.store(word, Ordering::Relaxed);
        result.and_then(|at| NonNull::new(at).map(Area::at).ok_or(libc::ENOMEM))
    })
}

fn register_new() -> Result<*mut u8, i32> {
    let at = claim()?;
    let address = NonNull::new(at).ok_or(libc::ENOMEM)?;
    // SAFETY: `claim` gave it to this thread, until that is gone (Invariant 1), as long and aligned as `fitting` says.
    let registered = unsafe { rseq::register(address, length(), SIGNATURE) }.and_then(|()| {
        // SAFETY: `claim` gave it to this thread, and its words can be loaded, registered or not.
        let id = unsafe { Area::at(address).id::<Cpu>() };
        // All ones, as `prepare` left it: the call was not made (Invariant 3).
        if (id as i32) < 0 { Err(libc::ENOSYS) } else { Ok(()) }
    });
    registered.map(|()| at).inspect_err(|_| give_back(at))
}

/// Length of our areas: what the kernel wants, unless that is more than an entry holds. Then the original one.
pub(super) fn length() -> usize {
    fitting(rseq::shape())
}

/// Of a kernel that wants this length and alignment.
pub(super) fn fitting(shape: (usize, usize)) -> usize {
    match shape {
        (length, align) if length <= ENTRY / 2 && align <= ENTRY / 2 => length,
        _ => rseq::ORIGINAL_AREA,
    }
}

/// Bytes of an entry: half for its owner, half for the area. A whole page of entries, the first of which is the page's.
const ENTRY: usize = 256;
const PAGE: usize = 4096;

/// The newest page of areas; each begins with the address of the one before.
static PAGES: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());

/// The first word of a page: the address of the page before it.
fn link<'a>(page: *mut u8) -> &'a AtomicU64 {
    // SAFETY: 8 zeroed bytes at the start of a page that stays (Safety 1), which are an atomic for everybody.
    unsafe { AtomicU64::from_ptr(page.cast()) }
}

/// What stands before an area: who has it.
#[repr(C)]
struct Head {
    claims: AtomicU64,
    owner: AtomicU64,
}
const _: () = assert!(size_of::<Head>() <= ENTRY / 2);

fn head<'a>(entry: *mut u8) -> &'a Head {
    // SAFETY: the first half of an entry, zeroed bytes of a page that stays (Safety 1), is a head for everybody.
    unsafe { &*entry.cast::<Head>() }
}

impl Entry for &Head {
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
    fn set_owner(&self, who: u64) {
        self.owner.store(who, Ordering::Relaxed);
    }
    fn end(&self, claims: u64) {
        self.claims.store(claims, Ordering::Release);
    }
}

fn me() -> u64 {
    u64::from(fork_generation::current()) << 32 | u64::from(task::current_tid() as u32)
}

/// Whether the kernel says that a thread of this process has ended. A filter that says so of the calling thread, too, says
/// nothing.
fn has_ended(tid: i32) -> bool {
    task::is_gone(tid) && !task::is_gone(task::current_tid())
}

/// An area for the calling thread, set up as not registered.
///
/// # Errors
/// ENOMEM.
fn claim() -> Result<*mut u8, i32> {
    let is_free = |who: u64| {
        let ours = (who >> 32) as u32 == fork_generation::current();
        who == 0 || ours && has_ended(who as i32)
    };
    loop {
        // Acquire: pairs with the Release below.
        let mut page = PAGES.load(Ordering::Acquire);
        while !page.is_null() {
            let mut entries = (1..PAGE / ENTRY).map(|n| page.wrapping_add(n * ENTRY));
            if let Some(mine) = entries.find(|&at| entry::claim(&head(at), me(), is_free)) {
                return Ok(prepare(mine));
            }
            // Relaxed, as below: the newest page's address was acquired, and with it what it led to.
            page = ptr::with_exposed_provenance_mut(link(page).load(Ordering::Relaxed) as usize);
        }
        let new = reserve(PAGE).map_err(|_| libc::ENOMEM)?;
        let newest = PAGES.load(Ordering::Relaxed);
        link(new.as_ptr()).store(newest.expose_provenance() as u64, Ordering::Relaxed);
        // Release: pairs with the Acquire above.
        let linked = PAGES.compare_exchange(newest, new.as_ptr(), Ordering::Release, Ordering::Relaxed);
        if linked.is_err() {
            // SAFETY: reserved above for this length, and seen by nobody.
            unsafe { release(new, PAGE) };
        }
    }
}

/// What an area holds before it is registered: zeroes, and the id that says so.
fn prepare(entry: *mut u8) -> *mut u8 {
    let area = entry.wrapping_add(ENTRY / 2);
    // SAFETY: the second half of an entry that has just become ours, and that no kernel thread writes (Invariant 1).
    unsafe { area.write_bytes(0, ENTRY / 2) };
    let id = area.wrapping_add(Cpu::AT).cast::<u32>();
    // SAFETY: inside that half, which is still nobody else's.
    unsafe { id.write(u32::MAX) };
    area
}

/// Gives back an area that is not registered.
fn give_back(area: *mut u8) {
    // Release: pairs with the Acquire of who claims it.
    head(area.wrapping_sub(ENTRY / 2)).owner.store(0, Ordering::Release);
}

/// In the child of a fork: the kernel copied the registration, and the thread has another number now.
pub(super) fn after_fork() {
    AREA.with(|area| {
        let at = area.load(Ordering::Relaxed);
        if at.addr() >= FIRST_ADDRESS {
            // Relaxed: whoever else there is in the child finds a process that it is not of, or this one and a thread that lives.
            head(at.wrapping_sub(ENTRY / 2)).owner.store(me(), Ordering::Relaxed);
        }
    });
}
