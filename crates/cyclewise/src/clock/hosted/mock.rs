//! A source that a test drives by hand: a counter with a rate, the kernel's clocks, and their faults.

use crate::clock::reason::Reason;
use crate::clock::segment::floor;
use crate::clock::source::Source;
use core::time::Duration;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;

/// A counter and clocks that stand still until a test advances them. Clones share one state.
///
/// Every reading takes a lock, so that threads that share one see one order of readings.
///
/// ```
/// use cyclewise::clock::{Clock, Mock};
/// use std::time::Duration;
///
/// let mock = Mock::new(1_000_000_000);
/// let clock = Clock::new(mock.clone());
/// let start = clock.now();
/// mock.advance(Duration::from_millis(5));
/// assert_eq!(clock.now() - start, Duration::from_millis(5));
/// ```
#[derive(Clone)]
pub struct Mock(Arc<Mutex<State>>);

/// Fractions are units of 2^-32.
struct State {
    counter: u128,
    monotonic: u128,
    raw_ns: u64,
    suspended_ns: u64,
    ticks_per_ns: u128,
    slew: u128,
    /// The duration of each reading.
    cost_ns: u64,
    trust: Result<(), Reason>,
    disruptions: u64,
    floors: HashMap<ThreadId, u64>,
}

impl State {
    fn advance(&mut self, ns: u64) {
        self.counter += u128::from(ns) * self.ticks_per_ns;
        self.monotonic += u128::from(ns) * self.slew;
        self.raw_ns += ns;
    }

    fn ticks(&mut self) -> u64 {
        self.advance(self.cost_ns);
        (self.counter >> 32) as u64
    }
}

impl Mock {
    /// A counter of `hz` ticks per second, an hour after it was 0, and clocks that agree with it.
    ///
    /// # Panics
    /// If `hz` is 0.
    pub fn new(hz: u64) -> Self {
        assert!(hz > 0, "a counter that stands still");
        let mut state = State {
            counter: 0,
            monotonic: 0,
            raw_ns: 0,
            suspended_ns: 0,
            ticks_per_ns: (u128::from(hz) << 32) / 1_000_000_000,
            slew: 1 << 32,
            cost_ns: 0,
            trust: Ok(()),
            disruptions: 0,
            floors: HashMap::new(),
        };
        state.advance(3_600_000_000_000);
        Self(Arc::new(Mutex::new(state)))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Advances the counter and the clocks.
    pub fn advance(&self, time: Duration) {
        self.state().advance(time.as_nanos() as u64);
    }

    /// Sets the duration of each reading of the counter or of a clock.
    pub fn reading_takes(&self, time: Duration) {
        self.state().cost_ns = time.as_nanos() as u64;
    }

    /// Sets the counter's rate to `hz` plus `ppm` millionths.
    pub fn set_counter_rate(&self, hz: u64, ppm: f64) {
        let exact = hz as f64 / 1e9 * (1.0 + ppm / 1e6) * 4_294_967_296.0;
        self.state().ticks_per_ns = exact as u128;
    }

    /// Makes CLOCK_MONOTONIC run `ppm` millionths faster than CLOCK_MONOTONIC_RAW.
    pub fn slew(&self, ppm: f64) {
        self.state().slew = ((1.0 + ppm / 1e6) * 4_294_967_296.0) as u128;
    }

    /// Changes the counter at once, like a write to the time stamp counter.
    pub fn jump(&self, ticks: i64) {
        let mut state = self.state();
        let now = (state.counter >> 32) as u64;
        state.counter = u128::from(now.saturating_add_signed(ticks)) << 32;
    }

    /// Suspends the machine: CLOCK_BOOTTIME and the counter go on, the other clocks do not.
    pub fn suspend(&self, time: Duration) {
        let mut state = self.state();
        let ns = time.as_nanos() as u64;
        state.suspended_ns += ns;
        state.counter += u128::from(ns) * state.ticks_per_ns;
    }

    /// Moves the kernel's clocks by `ns`: the process enters another time namespace, or was restored from a checkpoint.
    pub fn move_clocks(&self, ns: i64) {
        let mut state = self.state();
        let moved = ((state.monotonic >> 32) as u64).saturating_add_signed(ns);
        state.monotonic = u128::from(moved) << 32;
        state.raw_ns = state.raw_ns.saturating_add_signed(ns);
    }

    /// Sets the result of the next examinations.
    pub fn set_trust(&self, trust: Result<(), Reason>) {
        self.state().trust = trust;
    }

    /// Announces, as a hypervisor, that the machine was moved.
    pub fn disrupt(&self) {
        self.state().disruptions += 1;
    }

    /// CLOCK_MONOTONIC, without the cost of reading it.
    pub fn peek_ns(&self) -> u64 {
        (self.state().monotonic >> 32) as u64
    }
}

impl Source for Mock {
    fn bare(&self) -> u64 {
        self.state().ticks()
    }

    fn load_ordered(&self) -> u64 {
        self.state().ticks()
    }

    fn dependent_load(&self) -> u64 {
        self.state().ticks()
    }

    fn bracketed(&self) -> u64 {
        self.state().ticks()
    }

    fn monotonic_ns(&self) -> u64 {
        let mut state = self.state();
        state.ticks();
        (state.monotonic >> 32) as u64
    }

    fn raw_ns(&self) -> u64 {
        let mut state = self.state();
        state.ticks();
        state.raw_ns
    }

    fn boottime_ns(&self) -> u64 {
        let mut state = self.state();
        state.ticks();
        (state.monotonic >> 32) as u64 + state.suspended_ns
    }

    fn examine(&self) -> Result<(), Reason> {
        self.state().trust
    }

    fn disruptions(&self) -> Option<u64> {
        Some(self.state().disruptions)
    }

    fn raise_floor(&self, ns: u64) -> u64 {
        let mut state = self.state();
        let now_ns = (state.monotonic >> 32) as u64;
        let kept = state.floors.entry(std::thread::current().id()).or_insert(0);
        *kept = ns.max(floor(*kept, now_ns));
        *kept
    }
}
