//! Without faults: the clock starts, tracks, is slewed, is idle.

use super::super::{AfterStores, Bracketed, Clock, DependentLoad, LoadOrdered, Mock, Mode, PerTask, System, Upkeep};
use super::checked_reader::{CheckedReader, HZ};
use super::until;
use core::sync::atomic::{AtomicBool, Ordering::SeqCst};
use core::time::Duration;

const US: Duration = Duration::from_micros(1);
const MS: Duration = Duration::from_millis(1);

#[test]
fn a_new_clock_is_the_kernels_and_learns_the_rate_in_a_few_milliseconds() {
    let mut reader = CheckedReader::new();
    reader.read();
    assert_eq!(reader.clock.status().mode, Mode::Starting);
    reader.read_for(3 * MS, 50 * US);
    let status = reader.clock.status();
    assert_eq!((status.mode, status.reason), (Mode::Counter, None));
    assert!((status.hz.unwrap() / HZ as f64 - 1.0).abs() < 1e-4, "{status:?}");
    reader.read_for(Duration::from_secs(2), 50 * US);
    let hz = reader.clock.status().hz.unwrap();
    assert!((hz / HZ as f64 - 1.0).abs() < 1e-6, "sharper by itself: {hz}");
}

#[test]
fn it_tracks_a_steady_kernel_clock() {
    let mut reader = CheckedReader::warm();
    reader.read_for(Duration::from_secs(3), 70 * US);
    assert!(reader.max_error_ns < 100, "{} ns off", reader.max_error_ns);
    let status = reader.clock.status();
    assert!(status.anchors < 2000, "an anchor is taken once in 3 ms: {status:?}");
}

/// A tick that is longer than a reading: two readings of the counter may be equal although the kernel's clock, read
/// between them, has advanced.
#[test]
fn a_slow_counter_steps_nobody_back_and_keeps_its_bound() {
    for hz in [1_000_000, 19_200_000, 24_000_000, 62_500_000, 806_400_000] {
        let mut reader = CheckedReader::with_counter(hz);
        for round in 0..200 {
            // Long enough for a gap in every round.
            reader.mock.advance(10 * MS + Duration::from_nanos(7919 * round));
            for step in 0..100 {
                reader.mock.advance(Duration::from_nanos(40 + 13 * step));
                reader.read();
            }
            reader.read_for(MS, 3 * US);
        }
        assert_eq!(reader.clock.status().faults, 0, "{hz}");
        assert!(reader.clock.status().hz.is_some(), "{hz}");
    }
}

#[test]
fn it_follows_a_slew_within_a_few_segments() {
    for ppm in [100.0, -100.0, 500.0, -500.0, 0.0] {
        let mut reader = CheckedReader::warm();
        reader.mock.slew(ppm);
        reader.read_for(40 * MS, 50 * US);
        assert!(
            reader.max_error_ns < 12_000,
            "{ppm} ppm: {} ns off",
            reader.max_error_ns
        );
        reader.max_error_ns = 0;
        reader.read_for(Duration::from_secs(2), 50 * US);
        assert!(
            reader.max_error_ns < 200,
            "{ppm} ppm: {} ns off later",
            reader.max_error_ns
        );
        assert_eq!(reader.clock.status().faults, 0);
    }
}

#[test]
fn it_follows_a_counter_whose_rate_is_off() {
    let mut reader = CheckedReader::warm();
    for ppm in [100.0, -100.0, 100.0] {
        reader.mock.set_counter_rate(HZ, ppm);
        reader.read_for(40 * MS, 50 * US);
        reader.max_error_ns = 0;
        reader.read_for(Duration::from_secs(1), 50 * US);
        assert!(reader.max_error_ns < 200, "{ppm} ppm: {} ns off", reader.max_error_ns);
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
fn an_idle_clock_is_right_when_it_is_read() {
    let mut reader = CheckedReader::warm();
    for idle in [20 * MS, Duration::from_secs(3600), 40 * MS] {
        reader.mock.slew(30.0);
        reader.mock.advance(idle);
        reader.max_error_ns = 0;
        reader.read();
        assert!(
            reader.max_error_ns < 100,
            "{} ns off after {idle:?}",
            reader.max_error_ns
        );
        reader.read_for(10 * MS, 50 * US);
        assert_eq!(reader.clock.status().mode, Mode::Counter);
    }
    assert_eq!(reader.clock.status().faults, 0);
}

#[test]
fn rare_readings_are_the_kernels_clock_and_take_no_anchor() {
    let mut reader = CheckedReader::warm();
    reader.read_for(100 * MS, 20 * MS);
    let anchors = reader.clock.status().anchors;
    reader.read_for(Duration::from_secs(2), 20 * MS);
    assert_eq!(reader.clock.status().anchors, anchors);
    assert!(reader.max_error_ns < 100, "{} ns off", reader.max_error_ns);
}

#[test]
fn every_order_reads_the_same_clock() {
    let reader = CheckedReader::warm();
    let times = [
        reader.clock.now_as::<PerTask>().as_nanos(),
        reader.clock.now_as::<LoadOrdered>().as_nanos(),
        reader.clock.now_as::<DependentLoad>().as_nanos(),
        reader.clock.now_as::<Bracketed>().as_nanos(),
        reader.clock.now_as::<AfterStores>().as_nanos(),
    ];
    assert!(times.is_sorted() && times[4] - times[0] < 1000, "{times:?}");
}

#[test]
fn ticks_become_time_by_the_rate() {
    let reader = CheckedReader::warm();
    let from = reader.clock.ticks::<LoadOrdered>();
    reader.mock.advance(Duration::from_secs(10));
    let to = reader.clock.ticks::<Bracketed>();
    let time = reader.clock.between(from, to).unwrap().as_secs_f64();
    assert!((time - 10.0).abs() < 1e-4, "{time}");
    assert_eq!(reader.clock.between(to, from), Some(Duration::ZERO));
    assert_eq!(Clock::new(Mock::new(HZ)).between(from, to), None, "no rate is known");
}

#[test]
fn upkeep_updates_a_clock_that_nobody_reads() {
    let clock: &'static Clock = Clock::process();
    let upkeep = Upkeep::start(clock).unwrap();
    // Without a timeout: a loaded machine runs the thread late.
    until(|| clock.recent_word().is_kept());
    let first = clock.recent();
    until(|| clock.recent() != first);
    assert!(clock.recent() > first && clock.recent() <= clock.now());
    drop(upkeep);
    assert!(clock.recent() >= first, "and without one it is now");
}

/// Two at a time, so that one ends while the other goes on. `clock/recent` has the twins.
#[test]
fn recent_never_goes_back_where_upkeeps_come_and_go() {
    static CLOCK: Clock = Clock::new(System);
    /// Also where the test fails: the scope waits for the readers.
    struct EndsReaders<'a>(&'a AtomicBool);
    impl Drop for EndsReaders<'_> {
        fn drop(&mut self) {
            self.0.store(true, SeqCst);
        }
    }
    let over = AtomicBool::new(false);
    let steps_back = || {
        let (mut last, mut back) = (CLOCK.recent(), 0_u32);
        while !over.load(SeqCst) {
            let now = CLOCK.recent();
            back += u32::from(now < last);
            last = now;
            std::thread::yield_now();
        }
        (back, CLOCK.recent() <= CLOCK.now())
    };
    std::thread::scope(|scope| {
        let ends_readers = EndsReaders(&over);
        let readers = [(); 2].map(|()| scope.spawn(steps_back));
        for _ in 0..200 {
            let first = Upkeep::start(&CLOCK).unwrap();
            let second = Upkeep::start(&CLOCK).unwrap();
            until(|| CLOCK.recent.is_kept());
            drop(first);
            drop(second);
            assert!(!CLOCK.recent.is_kept());
        }
        drop(ends_readers);
        for reader in readers {
            assert_eq!(reader.join().unwrap(), (0, true));
        }
    });
}

#[test]
fn a_clock_stays_kept_where_one_of_two_upkeeps_ends() {
    static CLOCK: Clock = Clock::new(System);
    let first = Upkeep::start(&CLOCK).unwrap();
    let _second = Upkeep::start(&CLOCK).unwrap();
    drop(first);
    until(|| CLOCK.recent.is_kept());
    // It goes on as well.
    let before = CLOCK.recent();
    until(|| CLOCK.recent() != before);
    assert!(CLOCK.recent() > before);
}
