//! A counter that jumps while its rate is learnt, a slow counter whose readings are as unlucky as they may be, and twins.

use super::super::anchor::{Anchor, SleepTime};
use super::super::segment::{Segment, TickPosition};
use super::super::{Mock, Reason};
use super::{Calibration, Discipline, LEARN_NS, LONGEST_NS, Rate};
use core::time::Duration;

/// A tick is a nanosecond.
const HZ: u64 = 1_000_000_000;
/// Ticks of a jump, which make the slope 47 times too low.
const JUMP: i64 = 26_000_000;
/// The time between two anchors that are far enough apart.
const STEP: Duration = Duration::from_nanos(LEARN_NS + LEARN_NS / 8);

fn mock() -> Mock {
    let mock = Mock::new(HZ);
    mock.reading_takes(Duration::from_nanos(10));
    mock
}

/// The counter jumps between the first two anchors; `then` changes what was learnt from these. No segment lasts too
/// long, and the next anchor shows the jump.
fn jump(then: impl Fn(&mut Discipline)) {
    let (mock, mut discipline) = (mock(), Discipline::new());
    discipline.observe(&mock, true).unwrap();
    mock.jump(JUMP);
    mock.advance(STEP);
    let anchor = discipline.observe(&mock, true).unwrap();
    then(&mut discipline);
    if let Some(bridge) = discipline.bridge(&FIRST, anchor) {
        let next = discipline.successor(&bridge, anchor).unwrap();
        let most = LONGEST_NS + LONGEST_NS / 100;
        assert!(bridge.length.max(next.length) <= most, "too long: {bridge:?}, {next:?}");
    }
    mock.advance(STEP);
    let noticed = discipline.observe(&mock, true).err();
    assert_eq!(noticed, Some(Reason::CounterJumped));
    assert!(discipline.rate().is_none());
}

#[test]
fn a_slope_with_a_jump_in_it_is_no_rate() {
    jump(|_| ());
}

#[test]
#[should_panic(expected = "too long")]
fn a_slope_used_as_the_rate_at_once_is_caught() {
    jump(|discipline| discipline.rate = discipline.slope().map_or(Rate::Unknown, Rate::Confirmed));
}

/// Anchors confirm nothing, however many, before a jump would have been seen.
#[test]
fn a_slope_is_confirmed_for_as_long_as_it_was_learnt() {
    let (mock, mut discipline) = (mock(), Discipline::new());
    discipline.observe(&mock, true).unwrap();
    mock.advance(STEP);
    let since = discipline.observe(&mock, true).unwrap();
    while mock.peek_ns() < since.ns + LEARN_NS {
        assert!(discipline.rate().is_none());
        discipline.observe(&mock, true).unwrap();
    }
    let last = discipline.observe(&mock, true).unwrap();
    assert!(last.ns >= since.ns + LEARN_NS);
    assert!((discipline.rate().unwrap() - 1.0).abs() < 1e-3);
}

/// Anchors by hand: the kernel's clock is read at a fraction of a tick that the counter does not show, and readers find a tick just
/// after it began and just before it ends. Checks the bridge and the successor of each against the kernel's clock, which slews as
/// much as it may after the bridge began; `change` changes the segment first.
fn slow_counters(change: impl Fn(Segment, f64) -> Segment) {
    const TICK: u64 = 1 << 30; // a tick of the first reading
    const NS: u64 = 1 << 40; // CLOCK_MONOTONIC, and almost a nanosecond more
    const LITTLE: f64 = 1e-6;
    let most = 1.0 / 1024.0;
    for rate in [0.3, 1.75, 3.6, 41.99, 512.0, 999.5] {
        let discipline = Discipline {
            anchors: Some([anchor(TICK, 0, NS); 3]),
            rate: Rate::Confirmed(rate),
            ..Discipline::new()
        };
        for (width, read_late, fraction) in [0, 1, 2, 3]
            .into_iter()
            .flat_map(|width| [(width, false, 1.0 - LITTLE), (width, true, 0.0)])
        {
            let anchor = anchor(TICK, width, NS);
            // The kernel's clock was read as soon as the first tick began, or when the last one was about to end.
            let read_at = if read_late { width as f64 + 1.0 - LITTLE } else { 0.0 };
            let kernel = |at: f64, slew: f64| (fraction + (at - read_at) * rate * (1.0 + slew)).floor();
            let check = |segment: Segment, slew: f64, is_bridge: bool| {
                for after in 0..segment.length.min(500) {
                    let tick = segment.start + after;
                    let TickPosition::Within(ns) = segment.position(tick) else {
                        panic!("{segment:?}")
                    };
                    let (reading, bound) = (ns.wrapping_sub(NS).cast_signed() as f64, segment.error_at(ns) as f64);
                    for found in [0.0, 1.0 - LITTLE] {
                        let kernel = kernel((tick - TICK) as f64 + found, slew);
                        assert!(
                            !is_bridge || reading >= kernel,
                            "behind the kernel: {reading}, {kernel}"
                        );
                        let off = (reading - kernel).abs();
                        assert!(off <= bound, "{off} ns off, said {bound}");
                    }
                }
            };
            let bridge = discipline.bridge(&FIRST, anchor).unwrap();
            for slew in [most, 0.0, -most] {
                check(change(bridge, rate), slew, true);
            }
            // A segment that ends at the anchor, with its time.
            let previous = Segment {
                start: anchor.ticks,
                base: NS,
                ..FIRST
            };
            let next = discipline.successor(&previous, anchor).unwrap();
            check(change(next, rate), 0.0, false);
        }
    }
}

const FIRST: Segment = Segment {
    number: 0,
    start: 0,
    base: 0,
    mult: 0,
    fast: 0,
    length: 0,
    error_ns: 0,
    calibration: Calibration {
        rate: 0,
        rate_error: 0,
        since: 0,
        faults: 0,
    },
};

fn anchor(before: u64, width: u64, ns: u64) -> Anchor {
    Anchor {
        before,
        ticks: before + width / 2 + 1,
        ns,
        half_width: width / 2 + 1,
        raw_ns: 0,
        sleep_time: SleepTime::default(),
    }
}

#[test]
fn segments_of_slow_counters_are_within_their_bounds_and_bridges_not_behind_the_kernel() {
    slow_counters(|segment, _| segment);
}

#[test]
#[should_panic(expected = "ns off, said")]
fn a_bound_without_the_begun_tick_is_caught() {
    slow_counters(|segment, rate| Segment {
        error_ns: segment.error_ns.saturating_sub(rate as u64),
        ..segment
    });
}

#[test]
#[should_panic(expected = "behind the kernel")]
fn a_bridge_that_begins_a_nanosecond_lower_is_caught() {
    slow_counters(|segment, _| Segment {
        base: segment.base - 1,
        ..segment
    });
}
