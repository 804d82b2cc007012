//! The types against std's: the same layout, and the same answers to any sequence of operations.

mod oracle;

use cyclewise::atomic;
use proptest::prelude::*;
use std::panic::catch_unwind;
use std::sync::atomic as std_atomic;
use std::sync::atomic::Ordering;

macro_rules! same_layout {
    ($($name:ident),*) => { $(
        assert_eq!(size_of::<atomic::$name>(), size_of::<std_atomic::$name>());
        assert_eq!(align_of::<atomic::$name>(), align_of::<std_atomic::$name>());
    )* };
}

#[test]
fn layouts_are_stds() {
    same_layout!(AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize);
    same_layout!(AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicBool);
    assert_eq!(
        size_of::<atomic::AtomicPtr<u8>>(),
        size_of::<std_atomic::AtomicPtr<u8>>()
    );
    assert_eq!(
        align_of::<atomic::AtomicPtr<u8>>(),
        align_of::<std_atomic::AtomicPtr<u8>>()
    );
}

proptest! {
    #[test]
    fn answers_are_stds(steps in oracle::steps()) {
        oracle::check_all(&steps);
    }
}

#[test]
fn pointers_keep_what_they_point_to() {
    let (mut one, mut two) = (1, 2);
    let atomic = atomic::AtomicPtr::new(&raw mut one);
    let found = atomic
        .compare_exchange(&raw mut one, &raw mut two, Ordering::AcqRel, Ordering::Acquire)
        .unwrap();
    // SAFETY: the pointer that was put in.
    assert_eq!(unsafe { *found }, 1);
    let other = atomic
        .compare_exchange(std::ptr::null_mut(), found, Ordering::SeqCst, Ordering::Relaxed)
        .unwrap_err();
    // SAFETY: the pointer that was put in second.
    assert_eq!(unsafe { *other }, 2);
    let same = atomic.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |p| Some(p.wrapping_byte_add(0)));
    // SAFETY: the same pointer, moved by nothing.
    assert_eq!(unsafe { *same.unwrap() }, 2);
    assert_eq!(atomic.swap(std::ptr::null_mut(), Ordering::AcqRel), &raw mut two);
    assert!(atomic.into_inner().is_null());
    assert_eq!(format!("{:?}", atomic::AtomicPtr::<u8>::default()), "0x0");
}

#[test]
fn pointers_move_as_stds() {
    let mut values = [10_u32, 11, 12, 13];
    let start = values.as_mut_ptr();
    let (ours, theirs) = (atomic::AtomicPtr::new(start), std_atomic::AtomicPtr::new(start));
    let order = Ordering::AcqRel;
    assert_eq!(ours.fetch_ptr_add(3, order), theirs.fetch_ptr_add(3, order));
    assert_eq!(ours.fetch_ptr_sub(2, order), theirs.fetch_ptr_sub(2, order));
    assert_eq!(ours.fetch_byte_add(5, order), theirs.fetch_byte_add(5, order));
    assert_eq!(ours.fetch_byte_sub(1, order), theirs.fetch_byte_sub(1, order));
    assert_eq!(ours.fetch_or(3, order), theirs.fetch_or(3, order));
    assert_eq!(ours.fetch_and(!1, order), theirs.fetch_and(!1, order));
    assert_eq!(ours.fetch_xor(2, order), theirs.fetch_xor(2, order));
    assert_eq!(ours.load(Ordering::Relaxed), theirs.load(Ordering::Relaxed));
    // SAFETY: within the array, where the moves above lead.
    assert_eq!(unsafe { *ours.load(Ordering::Relaxed) }, 12);
    assert_eq!(
        ours.update(order, Ordering::Acquire, |p| p.wrapping_sub(1)),
        start.wrapping_add(2)
    );
}

#[test]
fn flags_tell_the_result() {
    let relaxed = Ordering::Relaxed;
    let small = atomic::AtomicI8::new(i8::MAX);
    assert!(small.inc_negative(relaxed), "wraps to the smallest");
    assert!(
        small.dec_not_positive(relaxed),
        "the smallest is not positive, though it wraps"
    );
    assert_eq!(small.load(relaxed), i8::MAX);
    assert!(!small.dec_not_positive(relaxed));
    let count = atomic::AtomicUsize::new(2);
    assert!(!count.dec_not_positive(relaxed) && count.dec_not_positive(relaxed) && count.dec_not_positive(relaxed));
    assert_eq!(count.load(relaxed), usize::MAX);
    assert!(count.sub_and_test(usize::MAX, relaxed));
    assert!(count.add_negative(1 << 63, relaxed) && !count.add_negative(1 << 63, relaxed));
    count.inc(relaxed);
    assert!(count.dec_and_test(relaxed) && !count.dec_and_test(relaxed));
}

#[test]
fn orderings_that_std_refuses_are_refused() {
    let word = atomic::AtomicU32::new(0);
    for bad in [Ordering::Release, Ordering::AcqRel] {
        assert!(catch_unwind(|| word.load(bad)).is_err());
        assert!(catch_unwind(|| word.compare_exchange(0, 1, Ordering::SeqCst, bad)).is_err());
        assert!(catch_unwind(|| word.fetch_update(Ordering::SeqCst, bad, Some)).is_err());
    }
    for bad in [Ordering::Acquire, Ordering::AcqRel] {
        assert!(catch_unwind(|| word.store(1, bad)).is_err());
    }
    // The compiler refuses the constant, of our fence as of std's.
    let relaxed = std::hint::black_box(Ordering::Relaxed);
    assert!(catch_unwind(|| atomic::fence(relaxed)).is_err());
    atomic::fence(Ordering::SeqCst);
    atomic::fence(Ordering::Acquire);
    assert_eq!(word.load(Ordering::SeqCst), 0);
}

#[test]
fn what_std_implements_is_implemented() {
    assert_eq!(format!("{:?}", atomic::AtomicI16::from(-3)), "-3");
    assert_eq!(format!("{:?}", atomic::AtomicBool::default()), "false");
    let mut word = atomic::AtomicU64::new(5);
    *word.get_mut() += 1;
    // SAFETY: the word is borrowed mutably, so nobody else looks.
    let same = unsafe { atomic::AtomicU64::from_ptr(word.as_ptr()) };
    same.inc(Ordering::Relaxed);
    assert_eq!(word.into_inner(), 7);
    static STATIC: atomic::AtomicUsize = atomic::AtomicUsize::new(3);
    assert_eq!(STATIC.fetch_sub(4, Ordering::SeqCst), 3);
    assert_eq!(STATIC.load(Ordering::SeqCst), usize::MAX);
}
