//! Windows, and a difference that a fork lost.
//!
//! # Safety
//! A counter's words are written before other threads can reach it; a child only counts.
#![allow(unsafe_code, reason = "words by address, and fork; not in every build")]

use super::window::{LARGEST_BATCH, Window};
use proptest::prelude::*;

/// The ends, as the sequences of `arch` compare them with a total: modulo 2^32, by the sign of a difference.
fn holds(window: Window, total: u64) -> bool {
    let (largest, smallest) = (window.0 as u32, (window.0 >> 32) as u32);
    let total = total as u32;
    largest.wrapping_sub(total) as i32 >= 0 && total.wrapping_sub(smallest) as i32 >= 0
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// From any middle, a window holds exactly the totals less than a batch away, and a total that it does not hold moves it
    /// there, for all differences that an addition can make.
    #[test]
    fn a_window_holds_what_is_less_than_a_batch_away(middle: u64, batch in 2..=LARGEST_BATCH, part in -2.0..2.0f64) {
        let reach = batch - 1;
        // A window in the middle of which is any number: it was moved there.
        let window = Window(0).for_total(middle, 0).for_total(middle, reach);
        let at = window.middle(reach);
        for away in [(part * reach as f64) as i64, 0, 1, -1, reach as i64, -(reach as i64), batch as i64, -(batch as i64)] {
            let total = u64::from(at).wrapping_add(away as u64);
            let next = window.for_total(total, reach);
            prop_assert_eq!(holds(window, total), away.unsigned_abs() < batch);
            prop_assert_eq!(next == window, away.unsigned_abs() < batch);
            prop_assert!(holds(next, total));
            let moved = next.middle(reach).wrapping_sub(at) as i32;
            prop_assert_eq!(i64::from(moved), if next == window { 0 } else { away });
        }
    }
}

#[test]
fn an_unused_window_is_closed_and_opens_in_place() {
    let unused = Window(0);
    assert!(!holds(unused, 1) && !holds(unused, u64::MAX));
    for batch_less_one in [1, 31, LARGEST_BATCH - 1] {
        let open = unused.for_total(1, batch_less_one);
        assert_ne!(open, unused);
        assert_eq!(open.middle(batch_less_one), 0);
        assert!(holds(open, batch_less_one) && !holds(open, batch_less_one + 1));
    }
}

/// Another thread forks between the two steps of a fold: in the child no thread does the second.
#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(loom)))]
mod forks {
    use crate::percpu::Counter;
    use crate::percpu::counter::window::Window;
    use crate::percpu::slots::{Slot, copy_in};
    use crate::percpu::word::Bits;
    use crate::sys::for_tests::fork;
    use core::cmp;
    use core::sync::atomic::Ordering::Relaxed;
    use core::time::Duration;
    use std::sync::LazyLock;

    const SUM: i64 = 1_000_000;

    /// A counter whose window was moved, but the difference was not added to the shared sum yet.
    static COUNTER: LazyLock<Counter> = LazyLock::new(|| {
        let counter = Counter::new(0);
        let total = copy_in(counter.words().cast::<u64>(), Slot::from_id(0).unwrap());
        // SAFETY: no other thread can reach the counter yet.
        unsafe { u64::store(total, SUM as u64) };
        let window = Window(0).for_total(SUM as u64, counter.batch() - 1);
        // SAFETY: no other thread can reach the counter yet.
        unsafe { u64::store(total.wrapping_add(1), window.0) };
        assert!(counter.error() < SUM as u64 / 2);
        counter
    });

    #[test]
    fn a_child_of_a_fork_compares_exactly() {
        LazyLock::force(&COUNTER);
        let child = || {
            assert_eq!((COUNTER.read(), COUNTER.sum()), (0, SUM));
            assert_eq!(COUNTER.compare(SUM / 2), cmp::Ordering::Greater);
            // A counter that is created in the child works as usual.
            let mine = Counter::new(5);
            mine.add(1);
            assert_eq!(
                (
                    mine.generation.load(Relaxed) == COUNTER.generation.load(Relaxed),
                    mine.compare(SUM)
                ),
                (false, cmp::Ordering::Less)
            );
        };
        // SAFETY: the child only counts.
        assert_eq!(unsafe { fork::child(child, Duration::from_secs(600)) }, 0);
        // In the parent an addition is still in progress, so it is not counted yet.
        assert_eq!(COUNTER.compare(SUM / 2), cmp::Ordering::Less);
    }
}
