//! The interface of `Instant`, compared with std's.

use super::super::{Clock, Instant, Mock, PerTask, Ticks};
use core::time::Duration;
use std::format;

fn at(ns: u64) -> Instant {
    Instant::from_ns(ns)
}

#[test]
fn arithmetic_is_std_s() {
    let (early, late) = (at(5), at(1_000_000_005));
    assert_eq!(late - early, Duration::from_secs(1));
    assert_eq!(late.duration_since(early), Duration::from_secs(1));
    assert_eq!(early - late, Duration::ZERO);
    assert_eq!(early.checked_duration_since(late), None);
    assert_eq!(late.checked_duration_since(early), Some(Duration::from_secs(1)));
    assert_eq!(early.saturating_duration_since(late), Duration::ZERO);
    assert_eq!(early + Duration::from_secs(1), late);
    assert_eq!(late - Duration::from_secs(1), early);
    assert_eq!(early.checked_sub(Duration::from_secs(1)), None);
    assert_eq!(late.checked_add(Duration::MAX), None);
    let mut moved = early;
    moved += Duration::from_secs(2);
    moved -= Duration::from_secs(1);
    assert_eq!(moved, late);
    assert!(early < late && late.max(early) == late);
    assert_eq!(format!("{late:?}"), "Instant(1.000000005s)");
    assert_eq!(size_of::<Instant>(), 8);
}

#[test]
#[should_panic(expected = "overflow when adding duration to instant")]
fn a_sum_past_the_end_of_time_panics_as_std_s_does() {
    let _ = at(1) + Duration::MAX;
}

#[test]
#[should_panic(expected = "overflow when subtracting duration from instant")]
fn a_difference_before_the_start_panics_as_std_s_does() {
    let _ = at(1) - Duration::from_secs(1);
}

#[test]
fn it_can_be_sent_whatever_its_order() {
    fn is_sync<T: Send + Sync + Copy + Ord + core::hash::Hash + core::fmt::Debug>() {}
    is_sync::<Instant>();
    is_sync::<Instant<PerTask>>();
    fn shared<T: Send + Sync>() {}
    shared::<Clock>();
    shared::<Clock<Mock>>();
}

#[test]
fn it_advances_as_std_s_does() {
    let std = std::time::Instant::now();
    let (ours, task) = (Instant::now(), Instant::<PerTask>::read());
    std::thread::sleep(Duration::from_millis(20));
    let [elapsed, of_task] = [ours.elapsed(), task.elapsed()];
    // std's is read before and after, so that a preemption between the reads makes it longer.
    let most = std.elapsed() + Duration::from_millis(1);
    for elapsed in [elapsed, of_task] {
        assert!(
            (Duration::from_millis(19)..=most).contains(&elapsed),
            "{elapsed:?} of {most:?}"
        );
    }
}

#[test]
fn ticks_advance() {
    let first = Ticks::now();
    assert!(Ticks::now() >= first && first.raw() > 0);
    assert_eq!(format!("{:?}", Ticks::<PerTask>::from_raw(7)), "Ticks(7)");
}
