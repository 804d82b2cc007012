//! The wall clock: beside the kernel's, over an hour of a slewed clock, and when it is set.

use super::super::{Clock, Mock};
use super::*;
use crate::sys::for_tests::realtime_ns;
use core::time::Duration;

/// Whether a wall-clock time lies between two readings of the kernel's, to within what both clocks know of their errors.
fn is_the_kernels(ahead: u64) -> bool {
    let anchor = UnixAnchor::new();
    let anchor = UnixAnchor {
        ahead_ns: anchor.ahead_ns.wrapping_add(ahead),
        ..anchor
    };
    let before = realtime_ns();
    let reading = Clock::process().reading::<super::super::Bracketed>();
    let after = realtime_ns();
    let error = anchor.error_ns + reading.error.as_nanos() as u64;
    let ns = reading.instant.as_unix_nanos(&anchor);
    before - error <= ns && ns <= after + error
}

/// Tries again: the wall clock may be set, and the machine suspended, between any two readings.
#[test]
fn it_is_the_kernels() {
    assert!((0..100).any(|_| is_the_kernels(0)));
    let wall = WallClock::new();
    let between = |_| {
        let before = realtime_ns();
        let ns = wall.now();
        // The distance's error, and that of the process's clock while it starts.
        let error = 1_000_000;
        before - error <= ns && ns <= realtime_ns() + error
    };
    assert!((0..100).any(between));
}

/// The twin: a second too late.
#[test]
fn a_wall_clock_that_is_wrong_is_caught() {
    assert!(!(0..100).any(|_| is_the_kernels(1_000_000_000)));
}

/// What stays between an hour's stamps and the wall clock, whose kernel slews by 100 ppm; and the same for a clock that was calibrated
/// once, against the raw rate.
#[test]
fn an_hour_does_not_drift_and_a_clock_that_was_calibrated_once_does() {
    const AHEAD: u64 = 1_700_000_000_000_000_000;
    let mock = Mock::new(3_000_000_000);
    mock.slew(100.0);
    let clock = Clock::new(mock.clone());
    let start_ns = mock.peek_ns();
    let anchor = UnixAnchor::between(start_ns, start_ns + AHEAD, start_ns);
    let mut passed_ns = 0;
    for _ in 0..3600 * 4 {
        // Readers in bursts, with rests between.
        for _ in 0..4 {
            clock.now();
            mock.advance(Duration::from_millis(1));
        }
        mock.advance(Duration::from_millis(246));
        passed_ns += 250_000_000;
        let wall_ns = mock.peek_ns() + AHEAD;
        let reading = clock.reading::<super::super::LoadOrdered>();
        let off = reading.instant.as_unix_nanos(&anchor).abs_diff(wall_ns);
        assert!(
            u128::from(off) <= reading.error.as_nanos(),
            "{off} ns, error {:?}",
            reading.error
        );
        assert!(off < 100_000, "{off} ns");
    }
    let calibrated_once = AHEAD + start_ns + passed_ns;
    let off = calibrated_once.abs_diff(mock.peek_ns() + AHEAD);
    assert!(off > 300_000_000, "the twin: {off} ns");
}

#[test]
fn times_before_1970_are_zero_and_late_ones_are_not() {
    let at = |ns| Instant::<super::super::LoadOrdered>::from_ns(ns);
    let early = UnixAnchor::between(1000, 0, 1000);
    assert_eq!((at(999).as_unix_nanos(&early), at(1000).as_unix_nanos(&early)), (0, 0));
    assert_eq!(at(1001).as_unix_nanos(&early), 1);
    let late = UnixAnchor::between(0, i64::MAX as u64, 0);
    assert_eq!(
        at(2).as_unix_nanos(&late),
        i64::MAX as u64 + 2,
        "the year 2262 and later"
    );
}

#[test]
fn a_reading_that_is_interrupted_has_a_larger_error() {
    let narrow = UnixAnchor::between(100, 1_000_120, 140);
    assert_eq!((narrow.ahead_ns, narrow.error()), (1_000_000, Duration::from_nanos(20)));
    let wide = UnixAnchor::between(100, 1_000_120, 1_000_100);
    assert!(wide.error() == Duration::from_micros(500) && !wide.is_stepped(&narrow));
}

/// As a sandbox would have it that refuses the clock, always or at first.
#[test]
fn a_clock_that_is_refused_has_no_known_error() {
    let refused = UnixAnchor::narrowest(|| None);
    assert_eq!(refused.error(), Duration::MAX);
    let at = Instant::<super::super::LoadOrdered>::from_ns(7);
    assert_eq!(at.as_unix_nanos(&refused), 7, "since the machine's start");
    let known = UnixAnchor::between(100, 1_000_120, 140);
    assert!(!known.is_stepped(&refused) && !refused.is_stepped(&known) && !refused.is_stepped(&refused));
    let calls = core::cell::Cell::new(0);
    let late = UnixAnchor::narrowest(|| {
        calls.set(calls.get() + 1);
        (calls.get() == TRIES).then_some(known)
    });
    assert_eq!(late, known);
}
