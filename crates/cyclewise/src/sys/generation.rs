//! The generation of this process: a number that it shares with no process it descends from.
//!
//! The number of a process, as getpid(2) gives it, is used again: in a namespace of its own a child of process 1 is process
//! 1 too. So a page is set apart that the kernel clears in every child which gets a copy of the memory, by fork(3),
//! `_Fork` or clone(2) alike; a child of vfork shares the memory, and the generation with it. Who finds the page clear
//! counts on in a static, which is copied. The process's number is in the result as well: a fork copies memory while
//! other threads go on, and may see the static from before the page.
//!
//! Where there is no such page (before Linux 4.14, or where a filter refuses it) the process's number is all there is.
//!
//! # Safety
//! 1. `PAGE` is null, `REFUSED`, or a page that is never unmapped and whose first 8 bytes are nothing but an atomic.
//! 2. The kernel places a mapping where nothing is.
#![expect(unsafe_code, reason = "mmap, madvise, munmap, and the page that they give")]

use super::errno::kept;
use super::process;
use core::ptr::{null_mut, without_provenance_mut};
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64};

/// Where the generation is; null until somebody asks.
static PAGE: AtomicPtr<AtomicU64> = AtomicPtr::new(null_mut());
/// In [`PAGE`]: there is none. No page ends there.
const REFUSED: usize = usize::MAX;
/// How many generations have been counted, in this process and those it descends from.
static COUNTED: AtomicU32 = AtomicU32::new(0);

/// The generation. Async-signal-safe. A load and a comparison after the first call.
pub(crate) fn current() -> u64 {
    // Acquire: pairs with the AcqRel in `map_slow`.
    let mut page = PAGE.load(Acquire);
    if page.is_null() {
        page = kept(map_slow);
    }
    if page.addr() == REFUSED {
        return process::id().into();
    }
    // SAFETY: a page of ours, which stays (Invariant 1).
    let word = unsafe { &*page };
    // Relaxed: a number that is the same whoever asks, and orders nothing.
    match word.load(Relaxed) {
        0 => begin_slow(word),
        current => current,
    }
}

/// The first of this process to ask.
#[cold]
fn begin_slow(word: &AtomicU64) -> u64 {
    // Relaxed, both: as in `current`. A number that is counted and not used leaves a gap.
    let count = COUNTED.fetch_add(1, Relaxed).wrapping_add(1);
    let new = u64::from(count) << 32 | u64::from(process::id());
    match word.compare_exchange(0, new, Relaxed, Relaxed) {
        Ok(_) => new,
        Err(others) => others,
    }
}

#[cold]
fn map_slow() -> *mut AtomicU64 {
    /// No page is smaller; the kernel rounds up.
    const LENGTH: usize = 4096;
    const UNKNOWN: i32 = i32::MAX; // no advice of include/uapi/asm-generic/mman-common.h
    let prot = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: the kernel chooses the place (Invariant 2).
    let at = unsafe { libc::mmap(null_mut(), LENGTH, prot, flags, -1, 0) };
    let refused = without_provenance_mut(REFUSED);
    let mut page = refused;
    if at != libc::MAP_FAILED {
        // SAFETY: advice on a mapping of ours; it changes no contents here.
        let advise = |advice| unsafe { libc::madvise(at, LENGTH, advice) } == 0;
        // A filter that answers for the kernel takes any advice.
        if !advise(UNKNOWN) && advise(libc::MADV_WIPEONFORK) {
            page = at.cast();
        }
    }
    // AcqRel: pairs with the Acquire in `current`; on failure Acquire, for another's page.
    let found = PAGE.compare_exchange(null_mut(), page, AcqRel, Acquire);
    if at != libc::MAP_FAILED && (found.is_err() || page == refused) {
        // SAFETY: mapped above, and nobody else has seen it.
        unsafe { libc::munmap(at, LENGTH) };
    }
    found.map_or_else(|others| others, |_| page)
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::current;

    #[test]
    fn it_is_one_for_all_threads() {
        let mine = current();
        assert_ne!(mine, 0);
        assert!((0..4).all(|_| std::thread::spawn(current).join().unwrap() == mine));
    }
}
