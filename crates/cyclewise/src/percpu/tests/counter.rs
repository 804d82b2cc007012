//! The counter compared with a plain sum.

use crate::percpu::{Counter, Cpu, NEVER, Slot};
use core::cmp::Ordering;
use core::sync::atomic::Ordering::Relaxed;
use proptest::prelude::*;
use std::thread;
use std::vec::Vec;

/// Any sequence of additions by one thread, with any batch.
fn additions() -> impl Strategy<Value = (i64, u64, Vec<i64>)> {
    let amounts = prop_oneof![-3i64..4, -100i64..101, any::<i64>()];
    (any::<i64>(), 0u64..70, prop::collection::vec(amounts, 0..60))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn it_is_a_sum((first, batch, amounts) in additions()) {
        let counter = Counter::with_batch(first, batch);
        let mut oracle = first;
        for amount in amounts {
            counter.add(amount);
            oracle = oracle.wrapping_add(amount);
            prop_assert_eq!(counter.sum(), oracle);
            let off = counter.read().wrapping_sub(oracle).unsigned_abs();
            prop_assert!(off <= counter.error(), "{} off by {}, more than {}", oracle, off, counter.error());
        }
        prop_assert_eq!(counter.sum_positive(), oracle.max(0));
    }

    #[test]
    fn it_compares_as_its_sum(amounts in prop::collection::vec(-40i64..41, 0..60), by in -9000i64..9000) {
        let counter = Counter::new(0);
        amounts.iter().for_each(|&amount| counter.add(amount));
        let oracle: i64 = amounts.iter().sum();
        for value in [by, oracle, oracle - 1, oracle + 1, i64::MIN, i64::MAX] {
            prop_assert_eq!(counter.compare(value), oracle.cmp(&value));
        }
    }
}

/// The counter's slow path uses `NEVER`, the guard of all sequences without one. If it could be set, all of them would wait.
#[test]
fn no_slot_can_be_stopped_at_never() {
    for slot in Slot::all() {
        assert!(matches!(slot.stop::<Cpu>(&NEVER), Ok(None)), "{slot:?}");
    }
    assert_eq!(NEVER.word().load(Relaxed), 0);
}

#[test]
fn the_batch_is_the_kernels() {
    let cpus = thread::available_parallelism().map_or(1, usize::from) as u64;
    assert_eq!(Counter::default().batch(), 32.max(2 * cpus));
    assert_eq!(Counter::with_batch(0, 0).batch(), 1);
}

/// Why `compare` does not rely on `read` within the error: the twin does.
#[test]
fn the_twin_that_relies_on_read_is_wrong() {
    let counter = Counter::with_batch(0, 32);
    counter.add(31);
    assert_eq!(counter.compare(31), Ordering::Equal);
    assert_eq!(counter.read().cmp(&31), Ordering::Less);
}

/// A total's lower half overflows, and the window's ends do before and after it.
#[test]
fn windows_move_past_the_end_of_their_halves() {
    for batch in [2, 1 << 30] {
        let counter = Counter::with_batch(0, batch);
        let most = batch as i64 - 1;
        let mut sum = 0;
        for amount in [most, -most, 1, -1].into_iter().flat_map(|amount| [amount; 24]) {
            counter.add(amount);
            sum += amount;
            assert_eq!(counter.sum(), sum);
            assert!(counter.read().abs_diff(sum) <= counter.error());
        }
    }
}

#[test]
fn with_a_batch_of_one_read_is_exact() {
    let counter = Counter::with_batch(5, 1);
    for amount in [1, -7, 40] {
        counter.add(amount);
        assert_eq!(counter.read(), counter.sum());
    }
}

#[test]
fn threads_add_exactly_and_read_is_within_the_error() {
    const EACH: i64 = 20_000;
    let counter = Counter::new(0);
    let threads = 8 * thread::available_parallelism().map_or(1, usize::from).min(4) as i64;
    thread::scope(|scope| {
        for n in 0..threads {
            let counter = &counter;
            scope.spawn(move || (0..EACH).for_each(|_| counter.add(n + 1)));
        }
    });
    assert_eq!(counter.sum(), EACH * threads * (threads + 1) / 2);
    // All additions have ended.
    assert!(counter.read().abs_diff(counter.sum()) <= counter.error());
}

/// Threads that race to be the first to add to a const counter.
#[test]
fn a_const_counter_is_allocated_by_its_first_additions() {
    static LASTING: Counter = Counter::new(7);
    assert_eq!((LASTING.sum(), LASTING.read()), (7, 7));
    LASTING.add(1);
    assert_eq!(LASTING.sum(), 8);
    for _ in 0..200 {
        let counter = const { Counter::new(-3) };
        assert_eq!(
            (counter.read(), counter.sum(), counter.compare(-3)),
            (-3, -3, Ordering::Equal)
        );
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..50).for_each(|_| counter.add(1)));
            }
        });
        assert_eq!((counter.sum(), counter.compare(197)), (197, Ordering::Equal));
        assert_eq!(counter.batch(), Counter::new(0).batch());
    }
    assert_eq!(Counter::with_batch(0, u64::MAX).batch(), 1 << 30);
}
