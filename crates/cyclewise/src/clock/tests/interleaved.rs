//! Events in the middle of a reading: another thread, a signal handler, a preemption.

use super::super::anchor::Anchor;
use super::super::{Bracketed, Clock, LoadOrdered, Mock, Mode, Reason, Source};
use super::checked_reader::HZ;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};
use core::time::Duration;
use std::boxed::Box;
use std::sync::Mutex;

const US: Duration = Duration::from_micros(1);
const MS: Duration = Duration::from_millis(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Call {
    LoadOrdered,
    Bracketed,
    Raw,
    Boottime,
}

/// Where a reading of CLOCK_MONOTONIC is delayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReadDelay {
    None,
    Before(Duration),
    After(Duration),
}

/// A call of the source, and what to do at its end.
type Hook = (Call, Box<dyn FnOnce() + Send>);

/// A mock that runs a hook once, at the end of the next call of a kind.
struct HookedSource {
    mock: Mock,
    hook: Mutex<Option<Hook>>,
    delay: Mutex<ReadDelay>,
    /// The hypervisor is updating its page.
    hides_disruptions: AtomicBool,
}

impl HookedSource {
    fn clock() -> (&'static Clock<Self>, Mock) {
        Self::with_counter(HZ, Duration::from_nanos(10))
    }

    fn with_counter(hz: u64, reading_takes: Duration) -> (&'static Clock<Self>, Mock) {
        let mock = Mock::new(hz);
        mock.reading_takes(reading_takes);
        let source = Self {
            mock: mock.clone(),
            hook: Mutex::new(None),
            delay: Mutex::new(ReadDelay::None),
            hides_disruptions: AtomicBool::new(false),
        };
        (Box::leak(Box::new(Clock::new(source))), mock)
    }

    fn after(&self, call: Call, hook: impl FnOnce() + Send + 'static) {
        *self.hook.lock().unwrap() = Some((call, Box::new(hook)));
    }

    fn hook_ran(&self) -> bool {
        self.hook.lock().unwrap().is_none()
    }

    fn run_hook(&self, call: Call) {
        let hook = self.hook.lock().unwrap().take_if(|(at, _)| *at == call);
        if let Some((_, hook)) = hook {
            hook();
        }
    }
}

impl Source for HookedSource {
    fn bare(&self) -> u64 {
        self.mock.bare()
    }

    fn load_ordered(&self) -> u64 {
        let ticks = self.mock.load_ordered();
        self.run_hook(Call::LoadOrdered);
        ticks
    }

    fn dependent_load(&self) -> u64 {
        self.mock.dependent_load()
    }

    fn bracketed(&self) -> u64 {
        let ticks = self.mock.bracketed();
        self.run_hook(Call::Bracketed);
        ticks
    }

    fn monotonic_ns(&self) -> u64 {
        let delay = *self.delay.lock().unwrap();
        if let ReadDelay::Before(time) = delay {
            self.mock.advance(time);
        }
        let ns = self.mock.monotonic_ns();
        if let ReadDelay::After(time) = delay {
            self.mock.advance(time);
        }
        ns
    }

    fn raw_ns(&self) -> u64 {
        let ns = self.mock.raw_ns();
        self.run_hook(Call::Raw);
        ns
    }

    fn boottime_ns(&self) -> u64 {
        let ns = self.mock.boottime_ns();
        self.run_hook(Call::Boottime);
        ns
    }

    fn examine(&self) -> Result<(), Reason> {
        self.mock.examine()
    }

    fn disruptions(&self) -> Option<u64> {
        self.mock
            .disruptions()
            .filter(|_| !self.hides_disruptions.load(Relaxed))
    }

    fn raise_floor(&self, ns: u64) -> u64 {
        self.mock.raise_floor(ns)
    }
}

/// Reads every 50 µs for `time`.
fn read_for(clock: &Clock<HookedSource>, mock: &Mock, time: Duration) {
    let end = mock.peek_ns() + time.as_nanos() as u64;
    while mock.peek_ns() < end {
        mock.advance(50 * US);
        clock.now();
    }
}

/// The counter jumps ahead and back while a failing anchor is read: a reader that got the kernel's clock in between is
/// not ahead of later ones.
#[test]
fn a_gap_opened_during_an_update_stays_open() {
    let (clock, mock) = HookedSource::clock();
    read_for(clock, &mock, 1500 * MS);
    // The next anchor does not fit, so no successor is written.
    mock.set_counter_rate(HZ, 5000.0);
    let told = &*Box::leak(Box::new(Mutex::new(None)));
    let other = mock.clone();
    clock.source().after(Call::Raw, move || {
        other.jump((HZ / 50) as i64);
        *told.lock().unwrap() = Some(clock.now());
        other.jump(-((HZ / 50) as i64));
    });
    while !clock.source().hook_ran() {
        mock.advance(50 * US);
        clock.now();
    }
    let told = told.lock().unwrap().unwrap();
    let now = clock.now();
    assert!(now >= told, "{now:?} after {told:?}");
}

/// A reader is delayed in a gap until the gap is over and the clock has become the kernel's permanently: the last
/// segment, which others still read, may be behind the kernel's clock.
#[test]
fn a_reader_delayed_until_demotion_is_not_ahead_of_the_last_segment() {
    let (clock, mock) = HookedSource::clock();
    read_for(clock, &mock, 1500 * MS);
    mock.advance(20 * MS);
    // Opens the gap.
    clock.now();
    let other = mock.clone();
    clock.source().after(Call::Bracketed, move || {
        other.set_trust(Err(Reason::UnknownClocksource));
        while clock.status().mode != Mode::Kernel {
            read_for(clock, &other, 50 * US);
        }
        other.slew(900.0);
        other.advance(400 * US);
    });
    let held_up = clock.now();
    assert!(clock.source().hook_ran());
    let now = clock.now();
    assert!(now >= held_up, "{now:?} after {held_up:?}");
}

/// The counter is slow, so its value may be from a while ago. A reader in a gap takes the kernel's clock while another
/// makes the bridge; the first reading on the bridge is not below that.
#[test]
fn a_bridge_of_a_slow_counter_is_not_behind_the_kernel() {
    let (clock, mock) = HookedSource::with_counter(24_000_000, Duration::from_nanos(1));
    read_for(clock, &mock, 1500 * MS);
    for phase in 0..100 {
        mock.advance(20 * MS + Duration::from_nanos(phase));
        let told = &*Box::leak(Box::new(Mutex::new(None)));
        clock
            .source()
            .after(Call::Raw, move || *told.lock().unwrap() = Some(clock.now()));
        while !clock.source().hook_ran() {
            mock.advance(50 * US);
            clock.now();
        }
        let now = clock.now();
        let told = told.lock().unwrap().unwrap();
        assert!(now >= told, "{now:?} after {told:?}");
    }
}

/// A reader is delayed just after it has read the counter. The counter goes back meanwhile, others notice it, learn the
/// rate again, and are in a segment in which the delayed reader's tick is in the future.
fn delay_after_the_counter(call: Call, read: impl Fn(&Clock<HookedSource>) -> u64) {
    let (clock, mock) = HookedSource::clock();
    read_for(clock, &mock, 1500 * MS);
    let first = clock.timeline.read().number;
    let other = mock.clone();
    clock.source().after(call, move || {
        let tick = other.bracketed();
        other.jump(-((HZ / 100) as i64));
        loop {
            read_for(clock, &other, 50 * US);
            let segment = clock.timeline.read();
            assert!(other.bracketed() < tick, "no segment of the others had the tick");
            if segment.number > first && tick.wrapping_sub(segment.start) < segment.fast {
                break;
            }
        }
    });
    let delayed = read(clock);
    assert!(clock.source().hook_ran());
    let now = clock.now().as_nanos();
    assert!(now >= delayed, "{now} after {delayed}");
}

#[test]
fn a_reader_delayed_after_the_counter_is_not_ahead() {
    delay_after_the_counter(Call::LoadOrdered, |clock| clock.now().as_nanos());
    delay_after_the_counter(Call::Bracketed, |clock| clock.now_as::<Bracketed>().as_nanos());
}

/// The twin: the number of the segment is loaded after the counter (Invariant 7 of `timeline`).
#[test]
#[should_panic(expected = " after ")]
fn a_number_loaded_after_the_counter_is_caught() {
    delay_after_the_counter(Call::LoadOrdered, |clock| {
        let ticks = clock.source().load_ordered();
        let view = clock.timeline.view(clock.timeline.current());
        view.at(ticks).unwrap_or_else(|| clock.now().as_nanos())
    });
}

/// The counter goes back by a microsecond inside an anchor: the next attempt is narrower.
#[test]
fn an_anchor_in_which_the_counter_went_back_is_not_the_narrowest() {
    let (clock, mock) = HookedSource::clock();
    let other = mock.clone();
    // Between the first reading of the counter and the second.
    clock
        .source()
        .after(Call::Bracketed, move || other.jump(-(HZ as i64 / 1_000_000)));
    let anchor = Anchor::take(clock.source(), 0);
    assert!(clock.source().hook_ran());
    assert!((1..1000).contains(&anchor.half_width), "{anchor:?}");
}

/// A preemption between the two clocks whose difference shows a suspend.
#[test]
fn an_interrupted_look_for_suspends_sees_none() {
    let (clock, mock) = HookedSource::clock();
    // Before the program started.
    mock.suspend(Duration::from_secs(60));
    read_for(clock, &mock, 1500 * MS);
    for _ in 0..3 {
        mock.advance(20 * MS);
        clock.now();
        let other = mock.clone();
        clock.source().after(Call::Boottime, move || other.advance(30 * MS));
        while !clock.source().hook_ran() {
            read_for(clock, &mock, 50 * US);
        }
        mock.advance(20 * MS);
        read_for(clock, &mock, 5 * MS);
    }
    assert_eq!((clock.status().faults, clock.status().reason), (0, None));
    // A real suspend is detected.
    mock.suspend(Duration::from_secs(1));
    read_for(clock, &mock, 5 * MS);
    assert_eq!(clock.status().reason, Some(Reason::Suspended));
}

/// A hypervisor updates its page repeatedly, and is read in the middle of an update: that is no disruption.
#[test]
fn a_page_under_update_is_no_disruption() {
    let (clock, mock) = HookedSource::clock();
    clock.source().hides_disruptions.store(true, Relaxed);
    read_for(clock, &mock, 10 * MS);
    for hides_disruptions in [false, true, false, true] {
        clock.source().hides_disruptions.store(hides_disruptions, Relaxed);
        read_for(clock, &mock, 10 * MS);
    }
    assert_eq!((clock.status().faults, clock.status().mode), (0, Mode::Counter));
    // The marker after the update is compared with the one before.
    mock.disrupt();
    read_for(clock, &mock, 10 * MS);
    assert_eq!(clock.status().faults, 0);
    clock.source().hides_disruptions.store(false, Relaxed);
    read_for(clock, &mock, 10 * MS);
    assert_eq!(
        (clock.status().faults, clock.status().reason),
        (1, Some(Reason::Disrupted))
    );
}

/// The rate is no more accurate than the readings of the kernel's clock, and the bound covers that.
#[test]
fn the_bound_holds_where_the_kernels_clock_is_slow_to_read() {
    for time in [1, 2, 5, 20].map(|n| n * US) {
        for [first, second] in [
            [ReadDelay::Before(time), ReadDelay::After(time)],
            [ReadDelay::After(time), ReadDelay::Before(time)],
        ] {
            let (clock, mock) = HookedSource::clock();
            *clock.source().delay.lock().unwrap() = first;
            clock.now();
            assert_eq!(clock.status().anchors, 1);
            *clock.source().delay.lock().unwrap() = second;
            let mut last = clock.now();
            let mut learnt = None;
            for _ in 0..400 {
                mock.advance(17 * US);
                let before = mock.peek_ns();
                let reading = clock.reading::<LoadOrdered>();
                let after = mock.peek_ns();
                let ns = reading.instant.as_nanos();
                let off = before.saturating_sub(ns).max(ns.saturating_sub(after));
                let bound = reading.error.as_nanos() as u64;
                assert!(off <= bound, "{first:?} {second:?}: {off} ns off, said {bound}");
                assert!(reading.instant >= last, "{:?} after {last:?}", reading.instant);
                last = reading.instant;
                if clock.status().hz.is_some() {
                    *clock.source().delay.lock().unwrap() = ReadDelay::None;
                    // The bridge, which is never behind the kernel's clock.
                    let since = *learnt.get_or_insert(after);
                    assert!(
                        after > since + 30_000 || ns >= before,
                        "{first:?} {second:?}: {off} ns behind"
                    );
                }
            }
            assert_eq!(clock.status().faults, 0, "{first:?} {second:?}");
        }
    }
}
