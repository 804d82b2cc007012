//! std's atomics as the oracle: one sequence of operations on ours and on std's, with every result compared.
#![allow(dead_code, reason = "each test program uses a part")]

use cyclewise::atomic;
use proptest::prelude::*;
use std::sync::atomic as std_atomic;
use std::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};

/// An operation by number, its operands, and an ordering by number.
pub(crate) type Step = (u8, u64, u64, u8);

const OPERATIONS: u8 = 31;

pub(crate) fn steps() -> impl Strategy<Value = Vec<Step>> {
    // Small operands and the edges of every width, so that comparisons succeed and counts wrap.
    let operand = prop_oneof![
        0_u64..4,
        any::<u64>(),
        (0_u32..64, -1_i64..2).prop_map(|(bit, by)| (1_u64 << bit).wrapping_add_signed(by)),
    ];
    prop::collection::vec((0..OPERATIONS, operand.clone(), operand, 0_u8..5), 1..60)
}

/// A fixed sequence with every operation, for programs without proptest's runner.
pub(crate) fn every_step() -> Vec<Step> {
    let operands = [0, 1, 2, 0x7f, 0x80, 0xffff, u64::MAX];
    let all = (0..OPERATIONS).flat_map(|op| operands.iter().map(move |&a| (op, a, a ^ 1, op % 5)));
    all.collect()
}

pub(crate) fn check_all(steps: &[Step]) {
    u8_steps(steps);
    u16_steps(steps);
    u32_steps(steps);
    u64_steps(steps);
    usize_steps(steps);
    i8_steps(steps);
    i16_steps(steps);
    i32_steps(steps);
    i64_steps(steps);
    isize_steps(steps);
    bool_steps(steps);
}

fn any_order(number: u8) -> Ordering {
    [Relaxed, Acquire, Release, AcqRel, SeqCst][usize::from(number)]
}

fn load_order(number: u8) -> Ordering {
    [Relaxed, Acquire, SeqCst][usize::from(number) % 3]
}

fn store_order(number: u8) -> Ordering {
    [Relaxed, Release, SeqCst][usize::from(number) % 3]
}

macro_rules! integers {
    ($($function:ident: $name:ident, $value:ident, $signed:ident;)*) => { $(
        fn $function(steps: &[Step]) {
            let ours = atomic::$name::new(1);
            let theirs = std_atomic::$name::new(1);
            for &(operation, a, b, number) in steps {
                let (a, b, order) = (a as $value, b as $value, any_order(number));
                let (loading, storing) = (load_order(number), store_order(number));
                let negative = |old: $value, by: $value| old.wrapping_add(by).leading_zeros() == 0;
                match operation {
                    0 => assert_eq!(ours.load(loading), theirs.load(loading)),
                    1 => { ours.store(a, storing); theirs.store(a, storing); }
                    2 => assert_eq!(ours.swap(a, order), theirs.swap(a, order)),
                    3 => assert_eq!(
                        ours.compare_exchange(a, b, order, loading),
                        theirs.compare_exchange(a, b, order, loading)
                    ),
                    4 => {
                        let now = theirs.load(Relaxed);
                        assert_eq!(ours.compare_exchange_weak(now, b, order, loading), Ok(now));
                        theirs.store(b, Relaxed);
                    }
                    5 => assert_eq!(ours.fetch_add(a, order), theirs.fetch_add(a, order)),
                    6 => assert_eq!(ours.fetch_sub(a, order), theirs.fetch_sub(a, order)),
                    7 => assert_eq!(ours.fetch_and(a, order), theirs.fetch_and(a, order)),
                    8 => assert_eq!(ours.fetch_nand(a, order), theirs.fetch_nand(a, order)),
                    9 => assert_eq!(ours.fetch_or(a, order), theirs.fetch_or(a, order)),
                    10 => assert_eq!(ours.fetch_xor(a, order), theirs.fetch_xor(a, order)),
                    11 => assert_eq!(ours.fetch_max(a, order), theirs.fetch_max(a, order)),
                    12 => assert_eq!(ours.fetch_min(a, order), theirs.fetch_min(a, order)),
                    13 => {
                        let update = |n: $value| (n > a).then(|| n.wrapping_mul(b));
                        let expected = theirs.fetch_update(order, loading, update);
                        if number % 2 == 0 {
                            assert_eq!(ours.try_update(order, loading, update), expected);
                        } else {
                            assert_eq!(ours.fetch_update(order, loading, update), expected);
                        }
                    }
                    14 => { ours.add(a, order); theirs.fetch_add(a, order); }
                    15 => { ours.sub(a, order); theirs.fetch_sub(a, order); }
                    16 => { ours.inc(order); theirs.fetch_add(1, order); }
                    17 => { ours.dec(order); theirs.fetch_sub(1, order); }
                    18 => { ours.and(a, order); theirs.fetch_and(a, order); }
                    19 => { ours.or(a, order); theirs.fetch_or(a, order); }
                    20 => { ours.xor(a, order); theirs.fetch_xor(a, order); }
                    21 => assert_eq!(ours.add_negative(a, order), negative(theirs.fetch_add(a, order), a)),
                    22 => assert_eq!(ours.inc_negative(order), negative(theirs.fetch_add(1, order), 1)),
                    23 => assert_eq!(ours.sub_and_test(a, order), theirs.fetch_sub(a, order) == a),
                    24 => assert_eq!(ours.dec_and_test(order), theirs.fetch_sub(1, order) == 1),
                    25 => assert_eq!(
                        ours.fetch_inc_cmp(order),
                        (theirs.fetch_add(1, order) as $signed).cmp(&-1)
                    ),
                    26 => assert_eq!(
                        ours.dec_cmp(order),
                        (theirs.fetch_sub(1, order).wrapping_sub(1) as $signed).cmp(&-1)
                    ),
                    27 => {
                        let update = |n: $value| n.rotate_left(3) ^ a;
                        assert_eq!(ours.update(order, loading, update), theirs.update(order, loading, update));
                    }
                    28 => assert_eq!(
                        ours.dec_negative(order),
                        negative(theirs.fetch_sub(1, order), (0 as $value).wrapping_sub(1))
                    ),
                    29 => assert_eq!(ours.dec_not_positive(order), theirs.fetch_sub(1, order) as $signed <= 1),
                    _ => {
                        // Half of the comparisons succeed.
                        let current = if number % 2 == 0 { theirs.load(Relaxed) } else { a };
                        assert_eq!(
                            ours.exchange_if(current, b, order, loading),
                            theirs.compare_exchange(current, b, order, loading).is_ok()
                        );
                    }
                }
                assert_eq!(ours.load(Relaxed), theirs.load(Relaxed), "after operation {operation} with {a}, {b}");
            }
        }
    )* };
}

integers! {
    u8_steps: AtomicU8, u8, i8;
    u16_steps: AtomicU16, u16, i16;
    u32_steps: AtomicU32, u32, i32;
    u64_steps: AtomicU64, u64, i64;
    usize_steps: AtomicUsize, usize, isize;
    i8_steps: AtomicI8, i8, i8;
    i16_steps: AtomicI16, i16, i16;
    i32_steps: AtomicI32, i32, i32;
    i64_steps: AtomicI64, i64, i64;
    isize_steps: AtomicIsize, isize, isize;
}

fn bool_steps(steps: &[Step]) {
    let ours = atomic::AtomicBool::new(true);
    let theirs = std_atomic::AtomicBool::new(true);
    for &(operation, a, b, number) in steps {
        let (a, b, order) = (a & 1 == 1, b & 1 == 1, any_order(number));
        let (loading, storing) = (load_order(number), store_order(number));
        match operation {
            0 => assert_eq!(ours.load(loading), theirs.load(loading)),
            1 => {
                ours.store(a, storing);
                theirs.store(a, storing);
            }
            2 => assert_eq!(ours.swap(a, order), theirs.swap(a, order)),
            3 | 4 => assert_eq!(
                ours.compare_exchange(a, b, order, loading),
                theirs.compare_exchange(a, b, order, loading)
            ),
            5 => assert_eq!(ours.fetch_not(order), theirs.fetch_not(order)),
            7 => assert_eq!(ours.fetch_and(a, order), theirs.fetch_and(a, order)),
            8 => assert_eq!(ours.fetch_nand(a, order), theirs.fetch_nand(a, order)),
            9 => assert_eq!(ours.fetch_or(a, order), theirs.fetch_or(a, order)),
            10 => assert_eq!(ours.fetch_xor(a, order), theirs.fetch_xor(a, order)),
            13 => {
                let update = |n: bool| (n != a).then_some(b);
                let expected = theirs.fetch_update(order, loading, update);
                if number % 2 == 0 {
                    assert_eq!(ours.try_update(order, loading, update), expected);
                } else {
                    assert_eq!(ours.fetch_update(order, loading, update), expected);
                }
            }
            27 => assert_eq!(
                ours.update(order, loading, |n| n ^ a),
                theirs.update(order, loading, |n| n ^ a)
            ),
            16 => {
                ours.not(order);
                theirs.fetch_not(order);
            }
            18 => {
                ours.and(a, order);
                theirs.fetch_and(a, order);
            }
            19 => {
                ours.or(a, order);
                theirs.fetch_or(a, order);
            }
            20 => {
                ours.xor(a, order);
                theirs.fetch_xor(a, order);
            }
            _ => {}
        }
        assert_eq!(
            ours.load(Relaxed),
            theirs.load(Relaxed),
            "after operation {operation} with {a}, {b}"
        );
    }
}
