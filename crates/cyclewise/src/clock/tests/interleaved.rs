//! What happens in the middle of a reading, done there: another thread, a handler, a scheduler that takes the CPU away.

use super::super::{Clock, LoadOrdered, Mock, Mode, Reason, Source};
use super::checked_reader::HZ;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};
use core::time::Duration;
use std::boxed::Box;
use std::sync::Mutex;

const US: Duration = Duration::from_micros(1);
const MS: Duration = Duration::from_millis(1);

/// A call of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Call {
    Bracketed,
    Raw,
    Boottime,
}

/// Where in a reading of CLOCK_MONOTONIC its time is delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReadDelay {
    None,
    Before(Duration),
    After(Duration),
}

/// What is done at the end of a call.
type Hook = (Call, Box<dyn FnOnce() + Send>);

/// A mock with something done once, at the end of the next call of a kind.
struct HookedSource {
    mock: Mock,
    hook: Mutex<Option<Hook>>,
    delay: Mutex<ReadDelay>,
    /// The hypervisor is writing what it says.
    hides_disruptions: AtomicBool,
}

impl HookedSource {
    fn clock() -> (&'static Clock<Self>, Mock) {
        let mock = Mock::new(HZ);
        mock.reading_takes(Duration::from_nanos(10));
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
        self.mock.load_ordered()
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

/// The counter goes ahead and back while an anchor is read that shows something else to be wrong: who had the kernel's
/// clock in between stays ahead of nobody.
#[test]
fn a_gap_opened_behind_the_keepers_back_stays_shut() {
    let (clock, mock) = HookedSource::clock();
    read_for(clock, &mock, 1500 * MS);
    // The next anchor does not fit, and no successor is made.
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

/// A reader that is held up in a gap until the gap is over and the clock is the kernel's for good: the last segment, which
/// others still read, may be behind the kernel's clock.
#[test]
fn a_reader_held_up_until_the_clock_is_given_up_is_not_ahead_of_the_last_segment() {
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

/// The CPU is taken away between the two clocks whose difference shows a suspend.
#[test]
fn an_interrupted_look_for_suspends_sees_none() {
    let (clock, mock) = HookedSource::clock();
    // Before the program began.
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
    // One that did happen is seen.
    mock.suspend(Duration::from_secs(1));
    read_for(clock, &mock, 5 * MS);
    assert_eq!(clock.status().reason, Some(Reason::Suspended));
}

/// A hypervisor writes its page again and again, and is met in the middle of it: that is no disruption.
#[test]
fn a_hypervisor_that_is_about_to_say_something_has_said_nothing() {
    let (clock, mock) = HookedSource::clock();
    clock.source().hides_disruptions.store(true, Relaxed);
    read_for(clock, &mock, 10 * MS);
    for hides_disruptions in [false, true, false, true] {
        clock.source().hides_disruptions.store(hides_disruptions, Relaxed);
        read_for(clock, &mock, 10 * MS);
    }
    assert_eq!((clock.status().faults, clock.status().mode), (0, Mode::Counter));
    // What it says afterwards is compared with what it said before.
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

/// What the rate is learnt from is no better than reading the kernel's clock, and the bound says so.
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
