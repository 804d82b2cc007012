//! The types compared with std's: the same layout, and the same results for any sequence of operations.

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

/// Every method that std's types have on stable Rust but the deprecated ones, with its type: the same text compiles for
/// std's and for ours. The oracle compares the results.
macro_rules! signatures {
    ($atomic:ident in $function:ident) => {
        #[test]
        fn $function() {
            signatures!(numbers $atomic, AtomicU8 u8, AtomicU16 u16, AtomicU32 u32, AtomicU64 u64, AtomicUsize usize);
            signatures!(numbers $atomic, AtomicI8 i8, AtomicI16 i16, AtomicI32 i32, AtomicI64 i64, AtomicIsize isize);
            signatures!(every $atomic, AtomicBool, bool);
            type Flag = $atomic::AtomicBool;
            let _: [fn(&Flag, bool, Ordering) -> bool; 4] =
                [Flag::fetch_and, Flag::fetch_nand, Flag::fetch_or, Flag::fetch_xor];
            let _: fn(&Flag, Ordering) -> bool = Flag::fetch_not;
            type Bytes = *mut u8;
            signatures!(common $atomic, (AtomicPtr<u8>), Bytes);
            type Pointer = $atomic::AtomicPtr<u8>;
            let _: [fn(&Pointer, usize, Ordering) -> Bytes; 7] = [
                Pointer::fetch_ptr_add,
                Pointer::fetch_ptr_sub,
                Pointer::fetch_byte_add,
                Pointer::fetch_byte_sub,
                Pointer::fetch_and,
                Pointer::fetch_or,
                Pointer::fetch_xor,
            ];
            let pointer = Pointer::default();
            assert_eq!(format!("{pointer:?} {pointer:p}"), "0x0 0x0");
            let _: fn(Ordering) = $atomic::fence;
            let _: fn(Ordering) = $atomic::compiler_fence;
        }
    };
    (numbers $atomic:ident, $($name:ident $value:ident),*) => { $(
        signatures!(every $atomic, $name, $value);
        signatures!(number $atomic, $name, $value);
    )* };
    (number $atomic:ident, $name:ident, $value:ty) => {{
        type A = $atomic::$name;
        let _: [fn(&A, $value, Ordering) -> $value; 8] = [
            A::fetch_add,
            A::fetch_sub,
            A::fetch_and,
            A::fetch_nand,
            A::fetch_or,
            A::fetch_xor,
            A::fetch_max,
            A::fetch_min,
        ];
        assert_eq!(format!("{:x?}", A::from(42)), "2a", "Debug prints the value");
    }};
    (every $atomic:ident, $name:ident, $value:ident) => {{
        signatures!(common $atomic, ($name), $value);
        let default = <$value as Default>::default();
        assert_eq!($atomic::$name::default().into_inner(), default);
        assert_eq!($atomic::$name::from(default).into_inner(), default);
        assert_eq!(format!("{:?}", $atomic::$name::new(default)), format!("{default:?}"));
    }};
    (common $atomic:ident, ($($name:tt)*), $value:ty) => {{
        type A = $atomic::$($name)*;
        type V = $value;
        type Updated = Result<V, V>;
        const fn constant(value: V) -> V {
            let mut atomic = A::new(value);
            let pointer = &raw mut atomic;
            // SAFETY: a local that is not shared.
            let again = unsafe { A::from_ptr(pointer.cast::<V>()) };
            let _: *mut V = again.as_ptr();
            atomic.into_inner()
        }
        let _: fn(V) -> V = constant;
        let _: fn(&mut A) -> &mut V = A::get_mut;
        let _: fn(&A, Ordering) -> V = A::load;
        let _: fn(&A, V, Ordering) = A::store;
        let _: fn(&A, V, Ordering) -> V = A::swap;
        let _: [fn(&A, V, V, Ordering, Ordering) -> Updated; 2] = [A::compare_exchange, A::compare_exchange_weak];
        let _: [fn(&A, Ordering, Ordering, fn(V) -> Option<V>) -> Updated; 2] = [A::fetch_update, A::try_update];
        let _: fn(&A, Ordering, Ordering, fn(V) -> V) -> V = A::update;
    }};
}

signatures!(atomic in ours_have_stds_signatures);
signatures!(std_atomic in stds_have_these_signatures);

proptest! {
    #[test]
    fn answers_are_stds(steps in crate::oracle::steps()) {
        crate::oracle::check_all(&steps);
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
    // SAFETY: the same pointer, moved by zero.
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
    assert!(small.inc_negative(relaxed), "wraps to the minimum");
    assert!(
        small.dec_not_positive(relaxed),
        "the minimum is not positive, although the operation wraps"
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
    // The compiler rejects the constant, for our fence as for std's.
    let relaxed = std::hint::black_box(Ordering::Relaxed);
    assert!(catch_unwind(|| atomic::fence(relaxed)).is_err());
    atomic::fence(Ordering::SeqCst);
    atomic::fence(Ordering::Acquire);
    assert_eq!(word.load(Ordering::SeqCst), 0);
}
