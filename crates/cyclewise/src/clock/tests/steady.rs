//! Nothing goes wrong: the clock starts, tracks, is slewed, is left alone.

use super::super::{Bracketed, Clock, DependentLoad, LoadOrdered, Mock, Mode, PerTask, Upkeep};
use super::walk::{HZ, Walk};
use core::time::Duration;

const US: Duration = Duration::from_micros(1);
const MS: Duration = Duration::from_millis(1);

#[test]
fn a_new_clock_is_the_kernels_and_learns_the_rate_in_a_few_milliseconds() {
    let mut walk = Walk::new();
    walk.read();
    assert_eq!(walk.clock.status().mode, Mode::Starting);
    walk.on(3 * MS, 50 * US);
    let status = walk.clock.status();
    assert_eq!((status.mode, status.reason), (Mode::Counter, None));
    assert!((status.hz.unwrap() / HZ as f64 - 1.0).abs() < 1e-4, "{status:?}");
    walk.on(Duration::from_secs(2), 50 * US);
    let hz = walk.clock.status().hz.unwrap();
    assert!((hz / HZ as f64 - 1.0).abs() < 1e-6, "sharper by itself: {hz}");
}

#[test]
fn it_tracks_a_kernel_that_is_steady() {
    let mut walk = Walk::warm();
    walk.on(Duration::from_secs(3), 70 * US);
    assert!(walk.worst < 100, "{} ns off", walk.worst);
    let status = walk.clock.status();
    assert!(status.anchors < 2000, "an anchor is taken once in 3 ms: {status:?}");
}

#[test]
fn it_follows_a_slew_within_a_few_segments() {
    for ppm in [100.0, -100.0, 500.0, -500.0, 0.0] {
        let mut walk = Walk::warm();
        walk.mock.slew(ppm);
        walk.on(40 * MS, 50 * US);
        assert!(walk.worst < 12_000, "{ppm} ppm: {} ns off", walk.worst);
        walk.worst = 0;
        walk.on(Duration::from_secs(2), 50 * US);
        assert!(walk.worst < 200, "{ppm} ppm: {} ns off later", walk.worst);
        assert_eq!(walk.clock.status().faults, 0);
    }
}

#[test]
fn it_follows_a_counter_whose_rate_is_off() {
    let mut walk = Walk::warm();
    for ppm in [100.0, -100.0, 100.0] {
        walk.mock.set_counter_rate(HZ, ppm);
        walk.on(40 * MS, 50 * US);
        walk.worst = 0;
        walk.on(Duration::from_secs(1), 50 * US);
        assert!(walk.worst < 200, "{ppm} ppm: {} ns off", walk.worst);
    }
}

#[test]
fn slow_and_fast_counters_are_counters() {
    for hz in [24_000_000, 62_500_000, 1_000_000_000, 5_000_000_000] {
        let mock = Mock::new(hz);
        let clock = Clock::new(mock.clone());
        for _ in 0..2000 {
            mock.advance(100 * US);
            let reading = clock.reading::<LoadOrdered>();
            let off = reading.instant.as_nanos().abs_diff(mock.peek_ns());
            assert!(off <= reading.error.as_nanos() as u64, "{hz} Hz: {off} ns off");
        }
        assert_eq!(clock.status().mode, Mode::Counter, "{hz} Hz");
    }
}

#[test]
fn one_that_nobody_reads_is_right_when_somebody_does() {
    let mut walk = Walk::warm();
    for idle in [20 * MS, Duration::from_secs(3600), 40 * MS] {
        walk.mock.slew(30.0);
        walk.mock.advance(idle);
        walk.worst = 0;
        walk.read();
        assert!(walk.worst < 100, "{} ns off after {idle:?}", walk.worst);
        walk.on(10 * MS, 50 * US);
        assert_eq!(walk.clock.status().mode, Mode::Counter);
    }
    assert_eq!(walk.clock.status().faults, 0);
}

#[test]
fn who_reads_seldom_gets_the_kernels_clock_and_pays_for_no_anchor() {
    let mut walk = Walk::warm();
    walk.on(100 * MS, 20 * MS);
    let anchors = walk.clock.status().anchors;
    walk.on(Duration::from_secs(2), 20 * MS);
    assert_eq!(walk.clock.status().anchors, anchors);
    assert!(walk.worst < 100, "{} ns off", walk.worst);
}

#[test]
fn every_order_reads_the_same_clock() {
    let walk = Walk::warm();
    let times = [
        walk.clock.now_as::<PerTask>().as_nanos(),
        walk.clock.now_as::<LoadOrdered>().as_nanos(),
        walk.clock.now_as::<DependentLoad>().as_nanos(),
        walk.clock.now_as::<Bracketed>().as_nanos(),
    ];
    assert!(times.is_sorted() && times[3] - times[0] < 1000, "{times:?}");
}

#[test]
fn ticks_become_time_by_the_rate() {
    let walk = Walk::warm();
    let from = walk.clock.ticks::<LoadOrdered>();
    walk.mock.advance(Duration::from_secs(10));
    let to = walk.clock.ticks::<Bracketed>();
    let time = walk.clock.between(from, to).unwrap().as_secs_f64();
    assert!((time - 10.0).abs() < 1e-4, "{time}");
    assert_eq!(walk.clock.between(to, from), Some(Duration::ZERO));
    assert_eq!(Clock::new(Mock::new(HZ)).between(from, to), None, "no rate is known");
}

#[test]
fn upkeep_keeps_a_clock_that_nobody_reads() {
    let clock: &'static Clock = Clock::process();
    let upkeep = Upkeep::start(clock).unwrap();
    // As long as it takes: a loaded machine runs the thread late.
    while clock.recent_ns.load(core::sync::atomic::Ordering::Relaxed) == 0 {
        std::thread::yield_now();
    }
    let first = clock.recent();
    while clock.recent() == first {
        std::thread::yield_now();
    }
    assert!(clock.recent() > first && clock.recent() <= clock.now());
    drop(upkeep);
    assert!(clock.recent() >= first, "and without one it is now");
}
