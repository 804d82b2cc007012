//! [`Clock`], and its fast path.
//!
//! # States
//! See [`timeline`](super::timeline). The fast path covers one case: the tick is in the first part of the current
//! segment. [`now_slow`](Clock::now_slow) covers the others: a segment that is due for a successor or has ended, a
//! counter that went back, a clock that was never read before.

use super::instant::{Instant, Reading};
use super::order::{LoadOrdered, Order};
use super::recent::{OF_PROCESS, Recent};
use super::segment::{Segment, TickPosition};
use super::source::Source;
use super::status::{Mode, Status, StatusCells};
use super::system::System;
use super::ticks::Ticks;
use super::timeline::{SegmentState, Timeline};
use super::try_lock::TryLock;
use super::updater::Updater;
use crate::primitive::{const_fn, global};
use core::ptr;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;
use core::time::Duration;

/// A clock that tracks CLOCK_MONOTONIC and reads the counter.
///
/// Most programs use the process's clock, by [`Instant::now`] or [`Clock::process`]. A clock with another source is for
/// tests.
///
/// # Examples
/// ```
/// use cyclewise::clock::{Bracketed, Clock};
///
/// let clock = Clock::process();
/// let before = clock.now();
/// // Ordered with the loads and stores on both sides, and with a bound of its error.
/// let reading = clock.reading::<Bracketed>();
/// println!("{} ns, off by {:?} at most", reading.instant.as_nanos(), reading.error);
/// println!("{:?}, since {before:?}", clock.status());
/// ```
pub struct Clock<S = System> {
    pub(super) timeline: Timeline,
    pub(super) source: S,
    pub(super) status_cells: StatusCells,
    /// When the kernel's clock was last read in a gap.
    pub(super) gap_ns: AtomicU64,
    /// The earliest time of the next attempt to end the gap.
    pub(super) retry_ns: AtomicU64,
    /// Of other clocks than the process's.
    pub(super) recent: Recent,
    pub(super) updater: TryLock<Updater>,
}

global! {
    fn process_clock() -> &'static Clock { Clock::new(System) }
}

impl Clock {
    /// The clock of this process.
    #[inline(always)]
    pub fn process() -> &'static Self {
        process_clock()
    }
}

impl Clock {
    /// The address of the segments, for C programs, which read them inline.
    #[doc(hidden)]
    pub fn __segments(&'static self) -> *const () {
        core::ptr::from_ref(&self.timeline).cast()
    }
}

impl<S: Source> Clock<S> {
    const_fn! {
        /// A clock on `source`.
        pub fn new(source: S) -> Self {
            Self {
                timeline: Timeline::new(),
                source,
                status_cells: StatusCells::new(),
                gap_ns: AtomicU64::new(0),
                retry_ns: AtomicU64::new(0),
                recent: Recent(AtomicU64::new(0)),
                updater: TryLock::new(Updater::new()),
            }
        }
    }

    /// The clock's source.
    pub fn source(&self) -> &S {
        &self.source
    }

    /// The time, load-ordered: see [`LoadOrdered`].
    ///
    /// Never below an earlier reading on any thread, if that reading happened before this one.
    #[inline(always)]
    pub fn now(&self) -> Instant {
        self.now_as::<LoadOrdered>()
    }

    /// The time, in the order `O`.
    #[inline(always)]
    pub fn now_as<O: Order>(&self) -> Instant<O> {
        // Before the counter: see Invariant 7 of `timeline`. The rest may be loaded on either side of it.
        let number = self.timeline.current();
        let (view, ticks) = if O::HOLDS_LATER_LOADS {
            let view = self.timeline.view(number);
            (view, O::ticks(&self.source))
        } else {
            let ticks = O::ticks(&self.source);
            (self.timeline.view(number), ticks)
        };
        let ns = match view.at(ticks) {
            Some(ns) => ns,
            None => self.now_slow().0,
        };
        Instant::from_ns(O::apply_floor(&self.source, ns))
    }

    /// The time, and a bound of its distance from CLOCK_MONOTONIC.
    ///
    /// The bound holds while the counter is steady and the kernel changes the rate of its clock by less than 977 ppm
    /// between two anchors. The next anchor, at most 8 ms later, detects a larger error.
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

    /// The counter, in the order `O`.
    #[inline(always)]
    pub fn ticks<O: Order>(&self) -> Ticks<O> {
        Ticks::from_raw(O::ticks(&self.source))
    }

    /// The time between two readings of the counter, at its present rate; zero if `to` is not later. `None` while the
    /// rate is unknown.
    ///
    /// For time stamps that are taken often and converted seldom. Accurate to a few ppm, because the rate is steered.
    pub fn between<O: Order, P: Order>(&self, from: Ticks<O>, to: Ticks<P>) -> Option<Duration> {
        // Relaxed: one number.
        let rate = self.status_cells.rate.load(Relaxed);
        let ticks = to.raw().wrapping_sub(from.raw());
        let ticks = if ticks.cast_signed() < 0 { 0 } else { ticks };
        let ns = (u128::from(ticks) * u128::from(rate)) >> 32;
        (rate > 0).then(|| Duration::from_nanos(u64::try_from(ns).unwrap_or(u64::MAX)))
    }

    /// A time that may be old, at the cost of one load.
    ///
    /// While an [`Upkeep`](super::Upkeep) thread runs, this is the time it last wrote; otherwise it is
    /// [`now`](Self::now), and costs a read-modify-write more. On each thread it never goes back, also where such threads
    /// start and end. It is never ahead of a later `now`.
    #[inline]
    pub fn recent(&self) -> Instant {
        Instant::from_ns(self.recent_word().read(|| self.now().as_nanos()))
    }

    /// The address of the process's clock is known to the compiler, and so is then the word's.
    #[inline(always)]
    pub(super) fn recent_word(&self) -> &Recent {
        if cfg!(not(loom)) && ptr::addr_eq(self, process_clock()) {
            &OF_PROCESS.0
        } else {
            &self.recent
        }
    }

    /// The clock's state, and the reason for it.
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

    /// Takes an anchor if the last one is older than a quarter of a segment. An upkeep thread calls this so that
    /// readers do not have to.
    pub fn refresh(&self) {
        let segment = self.timeline.read();
        let elapsed = self.source.bracketed().wrapping_sub(segment.start);
        if elapsed >= segment.length {
            // Relaxed: a hint. A clock that is refreshed is not idle.
            self.gap_ns.store(self.source.monotonic_ns(), Relaxed);
            self.now_slow();
        } else if elapsed >= segment.length / 4 {
            self.extend(&segment);
        }
    }

    /// Nanoseconds and their error bound.
    #[cold]
    #[inline(never)]
    fn now_slow(&self) -> (u64, u64) {
        self.timeline.now_slow(self)
    }
}
