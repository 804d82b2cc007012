//! The clock: reading it.
//!
//! # States
//! See [`timeline`](super::timeline). Of all that a reader can meet, one way is short: the tick is in the part of the
//! current segment that asks for nothing. Everything else is [`slow`](Clock::slow): a segment that is due for a
//! successor, one that has ended, a counter that went back, a clock that was never read before.

use super::instant::{Instant, Reading};
use super::order::{LoadOrdered, Order};
use super::segment::{Segment, TickPosition};
use super::source::Source;
use super::status::{Mode, Status, StatusCells};
use super::system::System;
use super::ticks::Ticks;
use super::timeline::{SegmentState, Timeline};
use super::try_lock::TryLock;
use super::update::Updater;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;
use core::time::Duration;

/// A clock that tracks CLOCK_MONOTONIC and reads the counter.
///
/// Most programs use the one of the process, by way of [`Instant::now`] or [`Clock::process`]. One with a source of its
/// own is for tests.
pub struct Clock<S = System> {
    pub(super) timeline: Timeline,
    pub(super) source: S,
    pub(super) status_cells: StatusCells,
    /// When a gap was read last.
    pub(super) gap_ns: AtomicU64,
    /// When to try again to end it.
    pub(super) retry_ns: AtomicU64,
    /// What an upkeep thread wrote last; 0 where there is none.
    pub(super) recent_ns: AtomicU64,
    pub(super) updater: TryLock<Updater>,
}

static PROCESS: Clock = Clock::new(System);

impl Clock {
    /// The clock of this process.
    #[inline(always)]
    pub fn process() -> &'static Self {
        &PROCESS
    }
}

impl<S: Source> Clock<S> {
    /// A clock on `source`.
    pub const fn new(source: S) -> Self {
        Self {
            timeline: Timeline::new(),
            source,
            status_cells: StatusCells::new(),
            gap_ns: AtomicU64::new(0),
            retry_ns: AtomicU64::new(0),
            recent_ns: AtomicU64::new(0),
            updater: TryLock::new(Updater::new()),
        }
    }

    /// What the clock reads.
    pub fn source(&self) -> &S {
        &self.source
    }

    /// The time, load-ordered: see [`LoadOrdered`].
    ///
    /// Never below a time that was read before, on any thread, where the one read happened before the other.
    #[inline(always)]
    pub fn now(&self) -> Instant {
        self.now_as::<LoadOrdered>()
    }

    /// The time, ordered as `O` says.
    #[inline(always)]
    pub fn now_as<O: Order>(&self) -> Instant<O> {
        let view = self.timeline.view();
        let ns = match view.at(O::ticks(&self.source)) {
            Some(ns) => ns,
            None => self.now_slow().0,
        };
        Instant::from_ns(O::apply_floor(&self.source, ns))
    }

    /// The time, and how far from CLOCK_MONOTONIC it is at most.
    ///
    /// The bound holds while the kernel changes the rate of its clock by less than 977 ppm from one anchor to the
    /// next, and the counter is steady. What is off by more is noticed at the next anchor, at most 8 ms later.
    pub fn reading<O: Order>(&self) -> Reading<O> {
        let segment = self.timeline.read();
        let (ns, error_ns) = match segment.position(O::ticks(&self.source)) {
            TickPosition::Within(ns) if segment.fast > 0 && self.is_fast(&segment, ns) => (ns, segment.error_at(ns)),
            _ => self.now_slow(),
        };
        let floored = O::apply_floor(&self.source, ns);
        Reading {
            instant: Instant::from_ns(floored),
            error: Duration::from_nanos(error_ns.saturating_add(floored.saturating_sub(ns))),
        }
    }

    fn is_fast(&self, segment: &Segment, ns: u64) -> bool {
        ns < Segment::ns_after(segment.base, segment.mult, segment.fast)
    }

    /// The counter, ordered as `O` says.
    #[inline(always)]
    pub fn ticks<O: Order>(&self) -> Ticks<O> {
        Ticks::from_raw(O::ticks(&self.source))
    }

    /// The time from one reading of the counter to a later one, by its present rate; zero where it is not later. `None`
    /// while no rate is known.
    ///
    /// For stamps that are made often and converted seldom. Good to some millionths: the rate is steered.
    pub fn between<O: Order, P: Order>(&self, from: Ticks<O>, to: Ticks<P>) -> Option<Duration> {
        // Relaxed: one number.
        let rate = self.status_cells.rate.load(Relaxed);
        let ticks = to.raw().wrapping_sub(from.raw());
        let ticks = if ticks.cast_signed() < 0 { 0 } else { ticks };
        let ns = (u128::from(ticks) * u128::from(rate)) >> 32;
        (rate > 0).then(|| Duration::from_nanos(u64::try_from(ns).unwrap_or(u64::MAX)))
    }

    /// A time that may be old, for one load.
    ///
    /// While an [`Upkeep`](super::Upkeep) runs it is what that wrote last. Without one it is [`now`](Self::now). It is
    /// never ahead of a later `now`.
    #[inline]
    pub fn recent(&self) -> Instant {
        // Relaxed: one number.
        match self.recent_ns.load(Relaxed) {
            0 => self.now(),
            ns => Instant::from_ns(ns),
        }
    }

    /// What the clock is doing, and why.
    pub fn status(&self) -> Status {
        let segment = self.timeline.read();
        let mode = match segment.position(self.source.load_ordered()) {
            _ if self.status_cells.is_demoted() => Mode::Kernel,
            TickPosition::Within(_) => Mode::Counter,
            _ if self.timeline.state(segment.number) == SegmentState::Closed => Mode::Counter,
            _ => Mode::Starting,
        };
        // Relaxed: numbers for people.
        let rate = self.status_cells.rate.load(Relaxed);
        Status {
            mode,
            reason: self.status_cells.reason(),
            faults: self.status_cells.faults.load(Relaxed),
            anchors: self.status_cells.anchors.load(Relaxed),
            hz: (rate > 0).then(|| 1e9 * 4_294_967_296.0 / rate as f64),
        }
    }

    /// Holds the clock against the kernel's, if that is a quarter of a segment ago: what an upkeep thread calls, so that
    /// no reader has to.
    pub fn refresh(&self) {
        let segment = self.timeline.read();
        let elapsed = self.source.bracketed().wrapping_sub(segment.start);
        if elapsed >= segment.length {
            // Relaxed: a hint. Who tends a clock has it warm.
            self.gap_ns.store(self.source.monotonic_ns(), Relaxed);
            self.now_slow();
        } else if elapsed >= segment.length / 4 {
            self.extend(&segment);
        }
    }

    /// Nanoseconds, and how far they are off at most.
    #[cold]
    #[inline(never)]
    fn now_slow(&self) -> (u64, u64) {
        self.timeline.now_slow(self)
    }
}
