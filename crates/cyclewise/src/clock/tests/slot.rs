//! A time from lower halves, beside exact arithmetic.

use crate::clock::segment::Segment;
use crate::clock::slot::*;
use proptest::prelude::*;

/// Compares `at` with exact arithmetic, at ticks around a segment and at those whose lower half is the same.
fn check(at: impl Fn(View, u64) -> Option<u64>) {
    let config = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let segments = (any::<u64>(), any::<u64>(), any::<u32>(), 1u64..1 << 40, any::<u32>());
    let ticks = (any::<u32>(), 0u64..3, any::<bool>());
    proptest!(config, |(((start, base, fast, mult, other), (within, wraps, back)) in (segments, ticks))| {
        // Invariant 1 of `segment`.
        let fast = u64::from(fast).min(u64::MAX / mult);
        let view = View { start, start_low: start as u32, base, mult, fast };
        let within = u64::from(within) % fast.max(1);
        let far = wraps << 32;
        for delta in [within, u64::from(other)].map(|d| d.wrapping_add(if back { far.wrapping_neg() } else { far })) {
            let exact = u128::from(base) + ((u128::from(delta) * u128::from(mult)) >> 32);
            let expected = (delta < fast).then_some(exact as u64);
            prop_assert_eq!(at(view, start.wrapping_add(delta)), expected, "{} of {:?}", delta, view);
        }
    });
}

#[test]
fn a_time_from_lower_halves_is_exact() {
    check(View::at);
}

/// The twin: the comparison has the lower halves too, and a tick 2^32 after the segment is taken for one inside.
#[test]
#[should_panic(expected = "assertion failed")]
fn a_comparison_of_lower_halves_is_caught() {
    check(|view, ticks| {
        let low = u64::from((ticks as u32).wrapping_sub(view.start as u32));
        (low < view.fast).then(|| Segment::ns_after(view.base, view.mult, low))
    });
}
