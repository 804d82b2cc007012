//! A counter that jumps while its rate is learnt, and a twin that uses that rate at once.

use super::super::{Mock, Reason};
use super::{Discipline, LEARN_NS, LONGEST_NS, Rate};
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
    let first = super::Segment {
        number: 0,
        start: 0,
        base: 0,
        mult: 0,
        fast: 0,
        length: 0,
        error_ns: 0,
    };
    if let Some(bridge) = discipline.bridge(&first, anchor) {
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

/// The twin: a slope is used as the rate at once.
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
