//! The allocator of a program that counts what its benchmarks allocate, and a limit of what lives at once.
//!
//! # Invariants
//! 1. Each call is passed on unchanged to the system's allocator, so its promises are kept.
//! 2. Counting allocates nothing: the counts are cells of the thread, made without an initializer that could.
//!
//! # Cost
//! About a nanosecond a call, and a word that all threads write: compare rows with each other, not with a program that
//! does not count.
//!
//! # Safety
//! Memory is the system allocator's (Invariant 1).
#![expect(unsafe_code, reason = "an allocator")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

/// Counts allocations: `#[global_allocator] static A: cyclewise_bench::Allocations = cyclewise_bench::Allocations;`.
pub struct Allocations;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allocated {
    /// Calls of the allocator that gave memory.
    pub calls: u64,
    /// Their bytes; of memory that grew, what it grew by.
    pub bytes: u64,
}

thread_local! {
    static OWN: Cell<Allocated> = const { Cell::new(Allocated { calls: 0, bytes: 0 }) };
}

/// Bytes that all threads have and did not free.
static LIVE: AtomicUsize = AtomicUsize::new(0);
/// How many they may have.
static MOST: AtomicUsize = AtomicUsize::new(usize::MAX);
/// What is called by the thread that asks for more. It does not return.
static BEYOND: OnceLock<fn() -> !> = OnceLock::new();

/// What the calling thread has allocated so far; zeroes in a program without [`Allocations`].
pub fn so_far() -> Allocated {
    // A thread that is ending has no cell any more.
    OWN.try_with(Cell::get).unwrap_or_default()
}

/// Whether this program's allocator is [`Allocations`].
pub fn are_counted() -> bool {
    let before = so_far();
    drop(std::hint::black_box(Box::new(1u8)));
    so_far() != before
}

/// The thread that asks for more than `bytes` beyond what lives now calls `beyond`, which must not return and must not
/// need this limit. The first limit's `beyond` stays.
pub fn limit(bytes: usize, beyond: fn() -> !) {
    let _ = BEYOND.set(beyond);
    // Relaxed: a number and nothing else.
    MOST.store(LIVE.load(Relaxed).saturating_add(bytes), Relaxed);
}

/// No limit from now on.
pub fn unlimited() {
    MOST.store(usize::MAX, Relaxed);
}

/// Counts memory that was given.
fn count(bytes: usize) {
    let _ = OWN.try_with(|own| {
        let Allocated { calls, bytes: all } = own.get();
        own.set(Allocated {
            calls: calls + 1,
            bytes: all + bytes as u64,
        });
    });
    // Relaxed: a sum that publishes nothing.
    let live = LIVE.fetch_add(bytes, Relaxed).wrapping_add(bytes);
    if live > MOST.load(Relaxed) {
        too_much_slow();
    }
}

#[cold]
fn too_much_slow() {
    // One thread is told: the others need memory to end in good order.
    if MOST.swap(usize::MAX, Relaxed) != usize::MAX
        && let Some(beyond) = BEYOND.get()
    {
        beyond();
    }
}

// SAFETY: Invariant 1.
unsafe impl GlobalAlloc for Allocations {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise is System's.
        let at = unsafe { System.alloc(layout) };
        if !at.is_null() {
            count(layout.size());
        }
        at
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise is System's.
        let at = unsafe { System.alloc_zeroed(layout) };
        if !at.is_null() {
            count(layout.size());
        }
        at
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's promise is System's.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's promise is System's.
        let moved = unsafe { System.realloc(at, layout, size) };
        match size.checked_sub(layout.size()) {
            // Where it gave none, the old memory is as it was.
            _ if moved.is_null() => {}
            Some(more) => count(more),
            None => {
                LIVE.fetch_sub(layout.size() - size, Relaxed);
            }
        }
        moved
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_counts_its_own_calls_and_bytes() {
        let before = so_far();
        count(100);
        count(28);
        LIVE.fetch_sub(128, Relaxed);
        let after = so_far();
        assert_eq!((after.calls - before.calls, after.bytes - before.bytes), (2, 128));
        let other = std::thread::spawn(so_far).join().unwrap();
        assert_eq!(other, Allocated::default(), "of another thread, nothing");
    }

    #[test]
    fn memory_that_was_refused_is_not_counted() {
        let before = so_far();
        // More than the address space has: System gives none.
        let layout = Layout::from_size_align(isize::MAX as usize - 4096, 1).unwrap();
        // SAFETY: the layout has a size.
        let none = unsafe { Allocations.alloc(layout) };
        assert!(none.is_null());
        assert_eq!(so_far(), before);
        // The twin is given.
        let layout = Layout::new::<[u64; 4]>();
        // SAFETY: the layout has a size.
        let some = unsafe { Allocations.alloc(layout) };
        assert_eq!(so_far().calls, before.calls + 1);
        // SAFETY: given for this layout, and freed once.
        unsafe { Allocations.dealloc(some, layout) };
    }

    #[test]
    fn these_tests_are_not_counted() {
        assert!(!are_counted(), "their allocator is the system's");
    }
}
