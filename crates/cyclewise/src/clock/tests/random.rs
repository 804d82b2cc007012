//! Random events in any order: no reading is below the one before.

use super::super::{PerTask, Reason};
use super::checked_reader::{CheckedReader, HZ};
use core::time::Duration;
use proptest::prelude::*;
use std::vec;

#[derive(Clone, Debug)]
enum Event {
    Read(u8),
    Idle(u64),
    Slew(i16),
    CounterRate(i16),
    Ahead(u32),
    /// By more than a segment lasts, or by less: see [`CheckedReader::jump_back`].
    Back(u32),
    Suspend(u32),
    Disrupt,
    Distrust,
    Trust,
    Refresh,
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        8 => any::<u8>().prop_map(Event::Read),
        2 => (0u64..3_000_000_000).prop_map(Event::Idle),
        1 => (-1000i16..1000).prop_map(Event::Slew),
        1 => (-1000i16..1000).prop_map(Event::CounterRate),
        1 => (0u32..100_000_000).prop_map(Event::Ahead),
        1 => (10_600_000u32..2_000_000_000).prop_map(Event::Back),
        1 => (0u32..20_000_000).prop_map(Event::Back),
        1 => any::<u32>().prop_map(Event::Suspend),
        1 => (0u32..20_000_000).prop_map(Event::Suspend),
        1 => Just(Event::Disrupt),
        1 => Just(Event::Distrust),
        2 => Just(Event::Trust),
        1 => Just(Event::Refresh),
    ]
}

fn run(events: &[Event]) {
    let mut reader = CheckedReader::new();
    reader.checks_bound = false;
    let mut own = reader.clock.now_as::<PerTask>();
    for event in events {
        match *event {
            Event::Read(n) => {
                for i in 0..n {
                    reader.mock.advance(Duration::from_micros(u64::from(i) * 3));
                    reader.read();
                }
            }
            Event::Idle(ns) => reader.mock.advance(Duration::from_nanos(ns)),
            Event::Slew(ppm) => reader.mock.slew(f64::from(ppm)),
            Event::CounterRate(ppm) => reader.mock.set_counter_rate(HZ, f64::from(ppm)),
            Event::Ahead(ticks) => reader.mock.jump(i64::from(ticks)),
            Event::Back(ticks) => reader.jump_back(u64::from(ticks)),
            Event::Suspend(ns) => reader.mock.suspend(Duration::from_nanos(u64::from(ns))),
            Event::Disrupt => reader.mock.disrupt(),
            Event::Distrust => reader.mock.set_trust(Err(Reason::UnknownClocksource)),
            Event::Trust => reader.mock.set_trust(Ok(())),
            Event::Refresh => reader.clock.refresh(),
        }
        reader.read();
        // This holds whatever the counter does.
        let now = reader.clock.now_as::<PerTask>();
        assert!(now >= own, "{now:?} after {own:?}");
        own = now;
    }
}

/// `PROPTEST_CASES` overrides the number of cases.
fn config() -> ProptestConfig {
    let mut config = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = 128;
    }
    config
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn no_reading_is_below_the_one_before(events in prop::collection::vec(event(), 1..60)) {
        run(&events);
    }
}

/// The counter jumps ahead by 26 ms between the first two anchors, and later back by 16 ms: more than a segment lasts,
/// but less than one at the rate that these two anchors show.
#[test]
fn a_jump_while_the_rate_is_learnt_makes_no_segment_longer() {
    run(&[
        Event::Trust,
        Event::Ahead(67_878_929),
        Event::Read(45),
        Event::Read(121),
        Event::Back(42_000_000),
    ]);
}
