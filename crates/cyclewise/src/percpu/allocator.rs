//! The slots' memory: address space for every slot, whose pages are allocated when a CPU first writes them.
//!
//! # States
//! A *chunk* is 64 KiB for bookkeeping and then 64 KiB for each slot. A variable has
//! the same offset in each slot. A bit for each 8 bytes says whether they are in use.
//!
//! # Invariants
//! 1. Chunks are made, changed and unmapped under the lock, with signals blocked.
//! 2. What is not in use is zero in every slot.
//! 3. A child of a fork takes the lock over from a holder that it does not have. A change that was cut off
//!    leaves at worst bits set that no variable uses, or a chunk unlinked. A chunk is unlinked before it is unmapped.
//!
//! # Signals, forks, priorities
//! A signal handler may make and drop variables, since the lock's holder is never interrupted. For forks and priorities see `allocator_lock`.
//!
//! # Safety
//! 1. A chunk is mapped until it is unlinked, and its header is accessed only under the lock.
#![expect(unsafe_code, reason = "an allocator")]

use super::allocator_lock::AllocatorLock;
use super::registration::{self, block_signals};
use super::slots::{Slot, copy_in, slot_count};
use crate::arch::SHIFT;
use crate::arch::leak_sanitizer::root_region;
use crate::error::Refusal;
use core::alloc::Layout;
use core::cell::UnsafeCell;
use core::ptr::{self, NonNull};

/// Bytes of a slot in a chunk.
const AREA: usize = 1 << SHIFT;
/// The unit of allocation: a word.
const GRAIN: usize = 8;
/// Bytes of the bookkeeping: a multiple of the page size, which is 4, 16 or 64 KiB on AArch64.
const HEADER: usize = AREA;
const LARGEST_PAGE: usize = 65536; // Linux arch/arm64/Kconfig, ARM64_64K_PAGES
const _: () = assert!(HEADER.is_multiple_of(LARGEST_PAGE) && AREA.is_multiple_of(LARGEST_PAGE));
/// The alignment of a mapping on every machine, and so of a slot.
const ALIGN: usize = 4096;
const MAPS: usize = AREA / GRAIN / 64;

#[repr(C)]
struct Chunk {
    next: *mut Chunk,
    used: [u64; MAPS],
}

struct Chunks {
    lock: AllocatorLock,
    first: UnsafeCell<*mut Chunk>,
}

// SAFETY: `first` is accessed under the lock (Invariant 1).
unsafe impl Sync for Chunks {}

static CHUNKS: Chunks = Chunks {
    lock: AllocatorLock::new(),
    first: UnsafeCell::new(ptr::null_mut()),
};

/// Asserts at compile time that a slot has room for a `T`.
pub(super) const fn check<T>() {
    assert!(size_of::<T>() <= AREA, "a per-CPU variable has at most 64 KiB");
    assert!(
        align_of::<T>() <= ALIGN,
        "a per-CPU variable is aligned to at most 4 KiB"
    );
}

/// The lock, held by the calling thread until this is dropped.
pub(super) struct Locked(());

impl Locked {
    /// Locks; `None` if the calling thread holds the lock, in a handler of a fault or of a filter's SIGSYS that interrupted it.
    pub(super) fn take() -> Option<Self> {
        registration::register_atfork();
        // Lazily: dropping a `Self` that was not locked would release what the interrupted code holds.
        CHUNKS.lock.lock().then(|| Self(()))
    }

    /// The chunks, newest first.
    fn first(&mut self) -> &mut *mut Chunk {
        // SAFETY: the caller holds the lock (Invariant 1), and borrows it meanwhile.
        unsafe { &mut *CHUNKS.first.get() }
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        CHUNKS.lock.unlock();
    }
}

/// Allocates zeroed memory at the same offset in every slot; returns its address in slot 0.
///
/// # Errors
/// There is no address space left, a filter keeps signals from being blocked, or the calling thread holds the lock.
pub(super) fn allocate(layout: Layout) -> Result<NonNull<u8>, Refusal> {
    let _blocked = block_signals()?;
    let mut locked = Locked::take().ok_or(Refusal::NoMemory)?;
    let mut at = *locked.first();
    while !at.is_null() {
        // SAFETY: a chunk that is linked, and so mapped, under the lock (Invariant 1).
        let chunk = unsafe { &mut *at };
        if let Some(found) = chunk.take(layout) {
            return Ok(in_chunk(at, found));
        }
        at = chunk.next;
    }
    let new = registration::reserve(length())?.cast::<Chunk>();
    // Or it takes for leaked what only words of variables refer to.
    if let Some([register, _]) = root_region() {
        // SAFETY: a mapping, until it is unregistered.
        unsafe { register(new.as_ptr().cast(), length()) };
    }
    // SAFETY: a new mapping, aligned to a page and zero, which is an empty header.
    let chunk = unsafe { &mut *new.as_ptr() };
    chunk.next = *locked.first();
    *locked.first() = new.as_ptr();
    // An empty chunk has room for everything that `check` accepts.
    chunk
        .take(layout)
        .map(|found| in_chunk(new.as_ptr(), found))
        .ok_or(Refusal::NoMemory)
}

/// Frees and zeroes what [`allocate`] returned, and unmaps its chunk if that is empty.
///
/// # Safety
/// [`allocate`] returned it for this layout, and nobody uses it any more.
pub(super) unsafe fn free(at: NonNull<u8>, layout: Layout) {
    for slot in Slot::all() {
        let words = copy_in(at.as_ptr().cast::<u64>(), slot);
        for n in 0..layout.size().div_ceil(GRAIN) {
            let word = words.wrapping_add(n);
            // SAFETY: a word of a slot's copy, which the caller vouches is unused.
            if unsafe { word.read() } != 0 {
                // Only then, so that pages that were never written stay unallocated.
                // SAFETY: the word that was just read.
                unsafe { word.write(0) };
            }
        }
    }
    // If signals cannot be blocked, or the thread holds the lock, the memory leaks.
    let Ok(_blocked) = block_signals() else { return };
    let Some(mut locked) = Locked::take() else { return };
    let mut link: *mut *mut Chunk = locked.first();
    loop {
        // SAFETY: the link of a chunk that is linked, or the first, under the lock (Invariant 1).
        let this = unsafe { *link };
        if this.is_null() {
            return;
        }
        // SAFETY: a chunk that is linked, and so mapped, under the lock (Invariant 1).
        let chunk = unsafe { &mut *this };
        let from = at.as_ptr().addr().wrapping_sub(this.addr() + HEADER);
        if from < AREA {
            chunk.set(from / GRAIN, layout, false);
            if chunk.used.iter().all(|&map| map == 0) {
                let next = chunk.next;
                // SAFETY: the link that led here, under the lock (Invariant 1).
                unsafe { *link = next };
                if let Some([_, unregister]) = root_region() {
                    // SAFETY: registered by `allocate` with this length.
                    unsafe { unregister(this.cast(), length()) };
                }
                // SAFETY: `reserve` returned it, no variable is in it, and it is unlinked.
                unsafe { registration::release(NonNull::from(chunk).cast(), length()) };
            }
            return;
        }
        link = &raw mut chunk.next;
    }
}

fn length() -> usize {
    HEADER + slot_count() * AREA
}

fn in_chunk(chunk: *mut Chunk, grain: usize) -> NonNull<u8> {
    let at = chunk.cast::<u8>().wrapping_add(HEADER + grain * GRAIN);
    // Inside a mapping, so not null.
    NonNull::new(at).unwrap_or(NonNull::dangling())
}

impl Chunk {
    /// Marks the first free range that fits as in use.
    fn take(&mut self, layout: Layout) -> Option<usize> {
        let length = grains(layout);
        let step = (layout.align() / GRAIN).max(1);
        let fits = |from: &usize| (*from..from + length).all(|n| !self.is_used(n));
        let from = (0..=MAPS * 64 - length).step_by(step).find(fits)?;
        self.set(from, layout, true);
        Some(from)
    }

    fn is_used(&self, grain: usize) -> bool {
        self.used[grain / 64] & 1 << (grain % 64) != 0
    }

    fn set(&mut self, from: usize, layout: Layout, used: bool) {
        for n in from..from + grains(layout) {
            let bit = 1 << (n % 64);
            let map = &mut self.used[n / 64];
            *map = if used { *map | bit } else { *map & !bit };
        }
    }
}

/// A zero-sized variable has an address of its own too.
fn grains(layout: Layout) -> usize {
    layout.size().div_ceil(GRAIN).max(1)
}

#[cfg(test)]
pub(super) mod for_tests {
    use super::*;

    pub(in crate::percpu) fn is_locked() -> bool {
        CHUNKS.lock.is_locked()
    }

    /// Whether an address in slot 0 belongs to a variable.
    pub(in crate::percpu) fn is_in_use(at: *mut u8) -> bool {
        let _blocked = block_signals().unwrap();
        let mut locked = Locked::take().unwrap();
        let mut chunk = *locked.first();
        // SAFETY: null, or a chunk that is linked, under the lock (Invariant 1).
        while let Some(this) = unsafe { chunk.as_ref() } {
            let from = at.addr().wrapping_sub(chunk.addr() + HEADER);
            if from < AREA {
                return this.is_used(from / GRAIN);
            }
            chunk = this.next;
        }
        false
    }
}
