//! The generation: a number of this process that no ancestor of it has. It distinguishes what this process wrote from
//! what fork copied.
//!
//! The number lies on a page that the kernel zeroes in a child of fork (MADV_WIPEONFORK, Linux 4.14), so it needs no atfork
//! handler. It is right in handlers that run before any of ours, and in children of `_Fork` and of clone(2), for which
//! the C library runs none. A child of vfork, or of clone(2) with CLONE_VM, has its parent's memory and its number.
//!
//! The number is a count and the pid: fork copies memory while other threads run, and may copy the count from before the
//! parent made its number.
//!
//! # Without the page
//! The kernel may refuse the advice, and an emulator or a filter may accept it without looking: both accept advice that does
//! not exist. Then the number belongs to a pid, and a child with its parent's pid, in a pid namespace of its own, has its
//! parent's number.
//!
//! # Memory ordering
//! None is needed: a process sees an ancestor's number only in memory that fork copied.
//!
//! # Cost
//! Two loads; without the page, a system call.
//!
//! # References
//! madvise(2); BoringSSL crypto/rand_extra/fork_detect.c.
//!
//! # Safety
//! 1. The first word is 0, [`NO_PAGE`], or the address of a page that was mapped here and is never unmapped: zeroes, or a
//!    number on its first word.
#![expect(unsafe_code, reason = "a word on the page, unmapping it")]

use super::{auxv, errno, mmap, process};
use core::ptr::NonNull;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// The smallest page size that Linux has; the kernel rounds up.
const PAGE: usize = 4096;
/// Advice that no kernel knows: include/uapi/asm-generic/mman-common.h ends far below.
const UNKNOWN_ADVICE: i32 = 0x7fff_0000;

/// Bits of a pid: PID_MAX_LIMIT is 2^22, include/linux/threads.h.
const PID_BITS: u32 = 22;
/// In place of the page's address: there is no page.
pub(super) const NO_PAGE: u64 = 1;

/// The number of this process, never 0. Async-signal-safe.
pub(crate) fn current() -> u32 {
    static WORDS: [AtomicU64; 3] = [const { AtomicU64::new(0) }; 3];
    current_in(&WORDS)
}

/// The number of this process, never 0, the same for each caller with these words. They start as zeroes: the address of the
/// page, or [`NO_PAGE`]; without the page, the number and above it the pid it belongs to; how many numbers were made, here
/// and in ancestors.
pub(crate) fn current_in([page, by_pid, count]: &'static [AtomicU64; 3]) -> u32 {
    // Acquire: pairs with the Release in `choose`; the page is ready.
    let at = match page.load(Acquire) {
        0 => errno::preserve(|| choose(page)),
        at => at,
    };
    let (word, pid) = match at {
        NO_PAGE => (by_pid, process::id()),
        // SAFETY: Invariant 1.
        at => (unsafe { word_at(at) }, 0),
    };
    // Relaxed: see the module.
    let mut found = word.load(Relaxed);
    while found == 0 || (found >> 32) as u32 != pid {
        let made = count.fetch_add(1, Relaxed).wrapping_add(1) as u32;
        let number = made << PID_BITS | process::id();
        let new = u64::from(pid) << 32 | u64::from(number);
        match word.compare_exchange(found, new, Relaxed, Relaxed) {
            Ok(_) => return number,
            Err(now) => found = now,
        }
    }
    found as u32
}

/// How many numbers were made up to this one, modulo 1024. A child makes a number after those of its ancestors.
pub(crate) fn count(number: u32) -> u32 {
    number >> PID_BITS
}

/// The number on the page.
///
/// # Safety
/// `at` was given by [`choose`] and is not [`NO_PAGE`].
unsafe fn word_at(at: u64) -> &'static AtomicU64 {
    let word = core::ptr::with_exposed_provenance::<AtomicU64>(at as usize);
    // SAFETY: a page for good (Invariant 1).
    unsafe { &*word }
}

/// Maps the page, or falls back on the pid.
#[cold]
fn choose(word: &AtomicU64) -> u64 {
    let page = wiped_page();
    let new = page.map_or(NO_PAGE, |page| page.as_ptr().expose_provenance() as u64);
    // Release: pairs with the Acquire in `current_in`.
    match word.compare_exchange(0, new, Release, Acquire) {
        Ok(_) => new,
        Err(first) => {
            if let Some(page) = page {
                // SAFETY: `wiped_page` has mapped it, and nobody else has seen it.
                unsafe { mmap::release(page, PAGE) };
            }
            first
        }
    }
}

/// Has the kernel zero a page of a static in children of fork. False where it does not: its pages are larger, or it does not know the
/// advice, or the page is part of a file, as of a static that is not all zeroes.
pub(crate) fn wipe_in_children(page: NonNull<u8>) -> bool {
    auxv::get(libc::AT_PAGESZ) == PAGE && wipe(page)
}

fn wipe(page: NonNull<u8>) -> bool {
    // The first must fail, or nobody looks at the advice.
    !mmap::advise(page, PAGE, UNKNOWN_ADVICE) && mmap::advise(page, PAGE, libc::MADV_WIPEONFORK)
}

/// A page that the kernel zeroes in children of fork.
fn wiped_page() -> Option<NonNull<u8>> {
    let page = mmap::zeroes(PAGE).ok()?;
    if !wipe(page) {
        // SAFETY: mapped above, and nobody else has seen it.
        unsafe { mmap::release(page, PAGE) };
        return None;
    }
    Some(page)
}
