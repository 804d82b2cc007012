//! Conversions compared with exact arithmetic, with a mock whose true times are known, and with this machine's clock.

use super::super::{Bracketed, Clock, LoadOrdered, Mock, Mode, Reason, Ticks};
use super::*;
use proptest::prelude::*;
use std::vec::Vec;

const HZ: u64 = 2_600_000_000;
const MS: Duration = Duration::from_millis(1);
const US: Duration = Duration::from_micros(1);

fn config() -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

fn raw(ticks: u64) -> Ticks {
    Ticks::from_raw(ticks)
}

/// A conversion by `rate` from an anchor, since a tick `age` before that.
fn conversion(ticks: u64, ns: u64, age: u64, rate: u64) -> Conversion {
    let calibration = Calibration {
        rate,
        rate_error: 1,
        since: ticks.wrapping_sub(age),
        faults: 0,
    };
    let anchor = Anchor {
        before: ticks,
        ticks,
        ns,
        half_width: 10,
        raw_ns: 0,
        sleep_time: Default::default(),
    };
    Conversion::new(calibration, anchor).unwrap()
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn times_are_exact_and_in_the_order_of_their_stamps(
        (ticks, ns, age) in (any::<u64>(), any::<u64>(), 0..u64::MAX / 2),
        (rate, shift) in (1u64.., 0u32..63),
        stamps in prop::collection::vec((any::<u64>(), 0u32..64), 1..20),
    ) {
        let rate = (rate >> shift).max(1);
        let line = conversion(ticks, ns, age, rate);
        prop_assert_eq!(line.time(raw(ticks)).unwrap().as_nanos(), ns);
        let mut offsets: Vec<u64> = stamps.iter().map(|(offset, shift)| offset >> shift).collect();
        offsets.extend([0, line.span - 1, line.span]);
        offsets.sort_unstable();
        let mut last = 0;
        for offset in offsets {
            let time = line.time(raw(line.first.wrapping_add(offset)));
            let exact = u128::from(line.base) + ((u128::from(offset) * u128::from(rate)) >> 32);
            prop_assert_eq!(time.is_some(), offset < line.span);
            if let Some(time) = time {
                prop_assert_eq!(u128::from(time.as_nanos()), exact);
                prop_assert!(time.as_nanos() >= last);
                last = time.as_nanos();
            }
        }
        // What is refused has no time, is more than a half of all ticks away, or was before a fault.
        prop_assert!(line.span >= u64::MAX / 2 || u128::from(line.base) + ns_of(line.span, rate) + ns_of(1, rate) + 1 >= u128::from(u64::MAX));
        prop_assert!(ticks.wrapping_sub(line.first) == age || u128::from(line.base) <= ns_of(1, rate) + 1);
    }
}

/// A clock on a mock that was read for a while, and stamps with the true times around them.
struct Stamped {
    mock: Mock,
    clock: Clock<Mock>,
    stamps: Vec<(Ticks, [u64; 2])>,
}

impl Stamped {
    fn new(hz: u64) -> Self {
        let mock = Mock::new(hz);
        mock.reading_takes(Duration::from_nanos(10));
        let clock = Clock::new(mock.clone());
        let mut stamped = Self {
            mock,
            clock,
            stamps: Vec::new(),
        };
        stamped.run(1500 * MS, 100 * US);
        stamped.stamps.clear();
        stamped
    }

    /// Reads and stamps every `step` for `time`.
    fn run(&mut self, time: Duration, step: Duration) {
        let end = self.mock.peek_ns() + time.as_nanos() as u64;
        while self.mock.peek_ns() < end {
            self.mock.advance(step);
            self.clock.now();
            let before = self.mock.peek_ns();
            let stamp = self.clock.ticks::<LoadOrdered>();
            self.stamps.push((stamp, [before, self.mock.peek_ns()]));
        }
    }

    /// Checks each stamp that `line` converts against `bound`; returns their number and the largest error.
    fn check(&self, line: &Conversion, bound: impl Fn(&Conversion, Ticks) -> Duration) -> (usize, u64) {
        let (mut converted, mut most) = (0, 0);
        for (stamp, [before, after]) in &self.stamps {
            let Some(time) = line.time(*stamp) else { continue };
            let off = before.saturating_sub(time.ns).max(time.ns.saturating_sub(*after));
            let bound = bound(line, *stamp).as_nanos() as u64;
            assert!(off <= bound, "{off} ns off, said {bound}");
            (converted, most) = (converted + 1, most.max(off));
        }
        (converted, most)
    }
}

/// The kernel slews its clock between the stamps, as much as the bound allows, before and after the conversion.
fn slewed(bound: impl Fn(&Conversion, Ticks) -> Duration + Copy) {
    for hz in [1_000_000, 24_000_000, 806_400_000, HZ, 5_000_000_000] {
        for ppm in [-900.0, -500.0, 0.0, 500.0, 900.0] {
            let mut stamped = Stamped::new(hz);
            stamped.run(300 * MS, 70 * US);
            stamped.mock.slew(ppm);
            stamped.run(20 * MS, 70 * US);
            let line = stamped.clock.conversion().unwrap();
            stamped.mock.slew(0.0);
            stamped.run(20 * MS, 70 * US);
            let (converted, most) = stamped.check(&line, bound);
            assert_eq!(converted, stamped.stamps.len());
            // A kernel that does not slew: tens of nanoseconds, and a tick.
            assert!(ppm != 0.0 || most <= 100 + 2_000_000_000 / hz, "{most} ns off at {hz}");
        }
    }
}

#[test]
fn the_bound_holds_while_the_kernel_slews() {
    slewed(|line, stamp| line.error(stamp));
}

/// The twin: a bound that does not grow with a stamp's age.
#[test]
#[should_panic(expected = "ns off, said")]
fn a_bound_without_the_age_is_caught() {
    slewed(|line, _| Duration::from_nanos(line.anchor_error_ns));
}

/// Makes a fault between stamps. A conversion is refused until the clock knows a rate again; then it converts the stamps
/// since, and `change` may change it.
fn faulty(fault: impl Fn(&Mock), reason: Reason, change: impl Fn(Conversion) -> Conversion) {
    let mut stamped = Stamped::new(HZ);
    stamped.run(10 * MS, 70 * US);
    let before = stamped.stamps.len();
    fault(&stamped.mock);
    assert_eq!(stamped.clock.conversion(), None, "{reason}");
    stamped.run(20 * MS, 70 * US);
    assert_eq!(stamped.clock.status().reason, Some(reason));
    let line = change(stamped.clock.conversion().unwrap());
    stamped.mock.advance(MS);
    let (converted, _) = stamped.check(&line, |line, stamp| line.error(stamp));
    let since = stamped.stamps.len() - before;
    assert!(
        (since / 2..=since).contains(&converted),
        "{reason}: {converted} of {since}"
    );
}

#[test]
fn stamps_from_before_a_fault_are_refused() {
    let same = |line| line;
    faulty(|mock| mock.jump(HZ as i64 / 10), Reason::CounterJumped, same);
    faulty(|mock| mock.suspend(MS * 1000), Reason::Suspended, same);
    faulty(
        |mock| {
            mock.disrupt();
            mock.jump(HZ as i64);
        },
        Reason::Disrupted,
        same,
    );
}

/// The twin: a conversion that forgets the fault.
#[test]
#[should_panic(expected = "ns off, said")]
fn a_conversion_across_a_suspend_is_caught() {
    faulty(
        |mock| mock.suspend(MS * 1000),
        Reason::Suspended,
        |line| {
            let earlier = HZ * 2;
            Conversion {
                first: line.first - earlier,
                base: line.base - ns_of(earlier, line.rate) as u64,
                ..line
            }
        },
    );
}

/// A jump that no reading of the clock has met: the conversion's own reading of the kernel's clock shows it. The clock's
/// lock is held, so that the clock takes no anchor of its own.
#[test]
fn a_fault_that_the_clock_has_not_seen_is_seen() {
    let stamped = Stamped::new(HZ);
    let held = stamped.clock.updater.try_lock();
    assert!(held.is_some() && stamped.clock.conversion().is_some());
    stamped.mock.jump(HZ as i64 / 10_000);
    assert_eq!(stamped.clock.conversion(), None);
    assert_eq!(stamped.clock.status().faults, 0);
}

/// As [`Clock::conversion`], but whatever the age of the segment.
fn of_any_age(clock: &Clock<Mock>) -> Option<Conversion> {
    clock.refresh();
    let segment = clock.timeline.read();
    let anchor = Anchor::take(&clock.source, 0);
    agrees(&segment, anchor).then(|| Conversion::new(segment.calibration, anchor).unwrap())
}

/// A stamp from before a suspend, after an idle time over which the kernel may slew by more than the suspend. Another thread holds
/// the clock's lock, or held it when this process was forked, so that the clock takes no anchor of its own.
fn suspended_unseen(convert: impl Fn(&Clock<Mock>) -> Option<Conversion>) {
    let mut stamped = Stamped::new(HZ);
    let held = stamped.clock.updater.try_lock().unwrap();
    core::mem::forget(held);
    stamped.mock.advance(Duration::from_secs(3600));
    let before = stamped.mock.peek_ns();
    let stamp = stamped.clock.ticks::<LoadOrdered>();
    stamped.stamps.push((stamp, [before, stamped.mock.peek_ns()]));
    stamped.mock.suspend(2000 * MS);
    stamped.mock.advance(MS);
    if let Some(line) = convert(&stamped.clock) {
        stamped.check(&line, |line, stamp| line.error(stamp));
        panic!("a conversion in a gap");
    }
}

#[test]
fn a_suspend_that_the_clock_has_not_seen_is_not_converted_across() {
    suspended_unseen(Clock::conversion);
}

/// The twin: a segment from before the idle time.
#[test]
#[should_panic(expected = "ns off, said")]
fn a_conversion_by_an_old_segment_is_caught() {
    suspended_unseen(of_any_age);
}

/// A machine that was moved to one whose counter is the same to a microsecond: only the count of faults shows it.
#[test]
fn a_disruption_without_a_jump_is_a_fault() {
    let mut stamped = Stamped::new(HZ);
    stamped.mock.disrupt();
    stamped.mock.advance(2 * MS);
    assert!(of_any_age(&stamped.clock).is_some());
    assert_eq!(stamped.clock.conversion(), None);
    stamped.run(20 * MS, 70 * US);
    assert_eq!(stamped.clock.status().reason, Some(Reason::Disrupted));
    assert!(stamped.clock.conversion().is_some());
}

/// The exception that [`Conversion::time`] and [`Conversion::error`] document.
#[test]
fn stamps_from_before_a_counter_that_went_back_are_converted_as_later_ones() {
    let mut stamped = Stamped::new(HZ);
    let before = stamped.mock.peek_ns();
    let stamp = stamped.clock.ticks::<LoadOrdered>();
    stamped.mock.jump(-(HZ as i64 / 10));
    stamped.run(5 * MS, 50 * US);
    let line = stamped.clock.conversion().unwrap();
    let off = line.time(stamp).unwrap().as_nanos() - before;
    assert!(off.abs_diff(100_000_000) < 1_000_000, "{off}");
    assert!(line.error(stamp) < MS);
    let status = stamped.clock.status();
    assert_eq!((status.faults, status.reason), (1, Some(Reason::CounterWentBack)));
}

/// By hand: 11 ticks and 5 ns at the anchor; after a million ticks of a nanosecond, 2^-10 of that for the kernel, as much for the
/// rate, and 2 ns.
#[test]
fn the_bound_has_the_error_of_the_rate() {
    let line = Conversion {
        rate_error: 1 << 22,
        ..conversion(1 << 40, 1 << 40, 1 << 30, 1 << 32)
    };
    assert_eq!(line.error(raw(1 << 40)).as_nanos(), 16 + 2);
    assert_eq!(line.error(raw((1 << 40) + 1_000_000)).as_nanos(), 16 + 976 + 976 + 2);
    assert_eq!(line.error(raw((1 << 40) - 1_000_000)).as_nanos(), 16 + 976 + 976 + 2);
}

#[test]
fn a_clock_that_is_not_used_has_no_conversion() {
    let mut stamped = Stamped::new(HZ);
    stamped.mock.set_trust(Err(Reason::UnknownClocksource));
    stamped.run(MS * 17_000, 200 * US);
    assert_eq!(stamped.clock.status().mode, Mode::Kernel);
    assert_eq!(stamped.clock.conversion(), None);
}

/// A clock of which nobody reads the time.
#[test]
fn conversions_alone_learn_the_rate() {
    for step in [MS, 100 * MS, 10_000 * MS] {
        let mut stamped = Stamped::new(HZ);
        stamped.clock = Clock::new(stamped.mock.clone());
        for call in 1..10 {
            let line = stamped.clock.conversion();
            assert_eq!(line.is_some(), call >= 3, "call {call}, {step:?}");
            for _ in 0..5 {
                let before = stamped.mock.peek_ns();
                let stamp = stamped.clock.ticks::<LoadOrdered>();
                stamped.stamps.push((stamp, [before, stamped.mock.peek_ns()]));
            }
            if let Some(line) = line {
                let (converted, _) = stamped.check(&line, |line, stamp| line.error(stamp));
                assert_eq!(converted, stamped.stamps.len());
            }
            stamped.mock.advance(step);
        }
    }
}

/// The twin of the promise of order: times of two conversions are not in the order of their stamps.
#[test]
fn times_of_two_conversions_have_no_order() {
    let [late, early] = [1_000_000, 999_990].map(|ns| conversion(5000, ns, 1000, 1 << 32));
    assert!(early.time(raw(5005)) < late.time(raw(5000)));
}

/// On this machine: a stamp between two readings is between them, within the bounds of all three.
#[test]
fn stamps_of_this_machine_are_where_readings_are() {
    let clock = Clock::process();
    let begun = std::time::Instant::now();
    let mut stamps = Vec::new();
    while begun.elapsed() < 50 * MS {
        let before = clock.reading::<Bracketed>();
        let stamp = clock.ticks::<Bracketed>();
        stamps.push((before, stamp, clock.reading::<Bracketed>()));
        std::thread::sleep(200 * US);
    }
    let Some(line) = clock.conversion() else {
        return std::eprintln!("skipped: the clock is {:?}", clock.status());
    };
    let mut last = None;
    for (before, stamp, after) in stamps {
        let Some(time) = line.time(stamp) else { continue };
        let error = line.error(stamp);
        let [least, most] = [
            before
                .instant
                .as_nanos()
                .saturating_sub((before.error + error).as_nanos() as u64),
            after.instant.as_nanos() + (after.error + error).as_nanos() as u64,
        ];
        assert!(
            (least..=most).contains(&time.as_nanos()),
            "{time:?}, {before:?}, {after:?}, {error:?}"
        );
        assert!(last <= Some(time));
        last = Some(time);
    }
    assert!(last.is_some());
}
