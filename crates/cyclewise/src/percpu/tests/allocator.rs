//! The allocator: variables do not overlap, freed memory is zeroed before reuse, slots share no page.
//!
//! # Safety
//! Each variable belongs to one test.
#![expect(unsafe_code, reason = "words by address")]

use crate::percpu::lazy::Lazy;
use crate::percpu::{Cpu, PerCpu, Slot, Zeroed, allocator};
use core::ptr::NonNull;
use std::vec::Vec;

fn range<T: Zeroed>(v: &PerCpu<T>) -> core::ops::Range<usize> {
    let at = v.as_ptr().addr();
    at..at + size_of::<T>()
}

#[test]
fn variables_do_not_overlap() {
    let bytes: Vec<_> = (0..50).map(|_| PerCpu::<u8>::new()).collect();
    let words: Vec<_> = (0..50).map(|_| PerCpu::<[u64; 3]>::new()).collect();
    let mut all: Vec<_> = bytes.iter().map(range).chain(words.iter().map(range)).collect();
    all.sort_by_key(|r| r.start);
    assert!(all.windows(2).all(|w| w[0].end <= w[1].start), "{all:?}");
}

#[test]
fn the_largest_variable_fits_and_is_whole() {
    let v = PerCpu::<[u64; 8192]>::new();
    let last = v.as_ptr().cast::<u64>().wrapping_add(8191);
    // SAFETY: the last word of the variable.
    unsafe { crate::percpu::this_cpu::add::<crate::percpu::Cpu, u64>(last, 5) };
    let place = |slot| v.slot_ptr(slot).cast::<u64>().wrapping_add(8191);
    // SAFETY: the copy of a slot; no other code uses the variable.
    assert_eq!(Slot::all().map(|s| unsafe { place(s).read() }).sum::<u64>(), 5);
}

#[test]
fn alignment_is_kept() {
    #[derive(Clone, Copy)]
    #[repr(align(128))]
    struct Line(#[expect(dead_code, reason = "fills the line")] [u8; 128]);
    // SAFETY: bytes.
    unsafe impl Zeroed for Line {}
    let (_odd, line) = (PerCpu::<u8>::new(), PerCpu::<Line>::new());
    assert!(Slot::all().all(|slot| line.slot_ptr(slot).addr() % 128 == 0));
}

#[test]
fn freed_words_are_zeroed_before_reuse() {
    for _ in 0..200 {
        let v = PerCpu::<u64>::new();
        assert_eq!(v.sum(), 0);
        v.add(9);
        assert_eq!(v.sum(), 9);
    }
}

#[test]
fn a_failed_try_lock_releases_nothing() {
    use crate::percpu::slots::LockedSlot;
    let taken = LockedSlot::any();
    let n = taken.slot().portable().unwrap();
    for _ in 0..3 {
        assert!(LockedSlot::try_lock(n).is_none());
    }
    drop(taken);
}

/// A handler of a fault that interrupted the allocator on this thread does not take its lock, nor release it by trying.
#[test]
fn a_failed_take_of_the_allocator_releases_nothing() {
    use crate::percpu::allocator::{Locked, for_tests::is_locked};
    let taken = Locked::take().unwrap();
    assert!(Locked::take().is_none() && is_locked());
    drop(taken);
}

#[test]
fn slots_share_no_page() {
    let v = PerCpu::<u64>::new();
    let mut places: Vec<_> = Slot::all().map(|slot| v.slot_ptr(slot).addr()).collect();
    places.sort_unstable();
    assert!(places.windows(2).all(|w| w[1] - w[0] >= 65536));
}

/// Every CPU of the machine has a slot, including offline ones.
#[test]
#[cfg(not(loom))]
fn every_possible_cpu_has_a_slot() {
    let slots = (0..).map_while(Slot::from_id).count();
    let report = crate::percpu::backend();
    if report.reason == crate::percpu::Reason::Build {
        assert_eq!(slots, 0);
        return;
    }
    let possible = std::fs::read_to_string("/sys/devices/system/cpu/possible").unwrap_or_default();
    let highest: usize = possible
        .trim()
        .rsplit([',', '-'])
        .next()
        .and_then(|number| number.parse().ok())
        .unwrap_or(0);
    assert!(slots > highest && slots.is_multiple_of(64), "{slots} slots, {possible}");
    std::println!("{slots} slots of CPUs; the highest CPU is {highest}");
    assert!(
        slots <= (highest + 64).next_multiple_of(64),
        "{slots} slots, {possible}"
    );
}

crate::percpu! {
    static SHARED: u64;
}

/// A static returns a reference, which cannot free the static's words.
#[test]
fn a_static_returns_no_owner() {
    let reference: &'static PerCpu<u64> = SHARED.get_ref();
    assert_eq!(reference.as_ptr(), SHARED.as_ptr());
    let before = SHARED.sum();
    reference.add(1);
    SHARED.add(1);
    assert_eq!((reference.sum(), SHARED.sum()), (before + 2, before + 2));
    assert!(allocator::for_tests::is_in_use(SHARED.as_ptr().cast()));
}

/// The twin returns an owner; dropping it frees the words.
#[test]
fn the_twin_that_returns_an_owner_loses_its_words() {
    // Another test may allocate the same words before the check, so it is tried more than once.
    let lost = (0..1000).any(|_| {
        let twin = core::mem::ManuallyDrop::new(Lazy::<u64, Cpu>::new());
        let at = twin.as_ptr();
        assert!(allocator::for_tests::is_in_use(at.cast()));
        // SAFETY: leaked by the twin, which is not used afterwards.
        drop(unsafe { PerCpu::<u64>::from_leaked(NonNull::new(at).unwrap()) });
        !allocator::for_tests::is_in_use(at.cast())
    });
    assert!(lost);
}

/// A lazy variable is allocated at its first use and freed when its `Lazy` is dropped.
#[test]
fn a_lazy_variable_is_freed() {
    let lost = (0..1000).any(|_| {
        let late = Lazy::<u64, Cpu>::new();
        assert!(late.allocated().is_none());
        let at = late.as_ptr();
        assert_eq!((late.get().as_ptr(), late.as_ptr()), (at, at));
        drop(late);
        !allocator::for_tests::is_in_use(at.cast())
    });
    assert!(lost);
}
