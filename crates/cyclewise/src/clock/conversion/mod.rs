//! Times of raw stamps: for stamps that are taken often and converted later, many at once.
//!
//! A [`Conversion`] is one line: a reading of the kernel's clock at a tick, and the rate that the clock has learnt. It is
//! no piece of the clock's own timeline, which is made of short lines that join: a time of it may be above or below a
//! reading of the clock at the same tick, by the errors of both. So it makes [`ConvertedTime`]s and not
//! [`Instant`](super::Instant)s, which are ordered with all other readings.
//!
//! # Invariants
//! 1. The tick `first + span` has a time that fits, so no tick that is converted overflows.
//! 2. No time is below one of an earlier tick: a product with a positive number, rounded down, does not decrease.

use super::anchor::Anchor;
use super::discipline::{LONGEST_NS, NOISE_NS};
use super::now::Clock;
use super::order::{Order, comparable};
use super::reason::SLEW_SHIFT;
use super::segment::{Calibration, Segment};
use super::source::Source;
use super::ticks::Ticks;
use core::fmt;
use core::marker::PhantomData;
use core::sync::atomic::Ordering::Relaxed;
use core::time::Duration;

/// Converts [`Ticks`] to times of CLOCK_MONOTONIC. Made by [`Clock::conversion`], after the stamps were taken.
///
/// ```
/// use cyclewise::clock::{Clock, PerTask, Ticks};
///
/// let clock = Clock::process();
/// clock.now(); // Stamps can be converted from the clock's first reading on.
/// let stamps: Vec<_> = (0..100).map(|_| Ticks::<PerTask>::read()).collect();
/// // `None` until the rate is known, a millisecond later, and where the counter cannot be trusted.
/// if let Some(conversion) = clock.conversion() {
///     let times: Vec<_> = stamps.iter().filter_map(|stamp| conversion.time(*stamp)).collect();
///     assert!(times.is_sorted());
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conversion {
    /// The first tick that is converted, its time, and for how many ticks from it times fit.
    first: u64,
    base: u64,
    span: u64,
    /// Nanoseconds per tick, and the error bound of that as a share of it, in units of 2^-32.
    rate: u64,
    rate_error: u64,
    /// The tick at which the kernel's clock was read, and the error bound there.
    anchor: u64,
    anchor_error_ns: u64,
}

/// Nanoseconds of CLOCK_MONOTONIC at a raw stamp, as a [`Conversion`] computes them.
///
/// Two times of one conversion are in the order of their stamps, or equal. Nothing is promised between times of two conversions, or
/// between one of these and an [`Instant`](super::Instant): each is off by up to its own error.
pub struct ConvertedTime<O: Order> {
    ns: u64,
    order: PhantomData<fn() -> O>,
}

impl<S: Source> Clock<S> {
    /// A conversion of stamps that were taken since this clock was first read. `None` while the rate is unknown, and
    /// where the counter is not used or is found not to have kept its rate.
    ///
    /// `None` also in a gap, when the clock has not been updated for 8 ms: while another thread updates it and was preempted,
    /// or if this thread is preempted in this call; then try again. Always `None` in a child that was forked while another
    /// thread took an anchor: there nobody updates the clock.
    ///
    /// Take it after the stamps: it then tells whether the counter could be trusted between. Its calls, a millisecond or more
    /// apart, also let a clock learn the rate that nobody reads otherwise: the third succeeds.
    ///
    /// Cost: a few readings of the kernel's clock: 0.3 µs where the clock was just read, 6 µs after a sleep of 10 ms (a
    /// Zen 5 under KVM). It never waits.
    pub fn conversion(&self) -> Option<Conversion> {
        // An anchor of the clock's own, if the last is old: it finds faults and learns the present rate.
        self.refresh();
        let segment = self.timeline.read();
        let anchor = Anchor::take(&self.source, 0);
        // Relaxed: the holder of the lock counts a fault before it learns a rate again, and the segment with that rate is
        // published after both.
        let faults = self.status_cells.faults.load(Relaxed);
        // Giving the counter up is counted as a fault too, and no segment begins afterwards.
        if faults != segment.calibration.faults || !is_recent(&segment, anchor) || !agrees(&segment, anchor) {
            return None;
        }
        Conversion::new(segment.calibration, anchor)
    }
}

/// A segment that began longer ago than this is from before a gap: the update before the anchor was not made.
const MAX_AGE_NS: f64 = 2.0 * LONGEST_NS as f64;

/// Whether the segment began shortly before the anchor. Over a long time, what the kernel may slew would hide a suspend.
fn is_recent(segment: &Segment, anchor: Anchor) -> bool {
    let age = anchor.ticks.wrapping_sub(segment.start).cast_signed();
    age as f64 * (segment.calibration.rate as f64 / UNIT) <= MAX_AGE_NS
}

/// Whether the counter and the kernel's clock have advanced together from the segment's start to the anchor.
fn agrees(segment: &Segment, anchor: Anchor) -> bool {
    let Calibration { rate, rate_error, .. } = segment.calibration;
    let [rate, rate_error] = [rate, rate_error].map(|units| units as f64 / UNIT);
    let expected = anchor.ticks.wrapping_sub(segment.start).cast_signed() as f64 * rate;
    let passed = anchor.ns.wrapping_sub(segment.base).cast_signed() as f64;
    let slew = expected.abs() * (rate_error + 1.0 / f64::from(1u32 << SLEW_SHIFT));
    let allowed = segment.error_ns as f64 + slew + anchor.half_width as f64 * rate + NOISE_NS;
    (passed - expected).abs() <= allowed
}

/// One unit of a rate.
const UNIT: f64 = 4_294_967_296.0;

/// The nanoseconds of so many ticks, rounded down.
#[inline(always)]
fn ns_of(ticks: u64, rate: u64) -> u128 {
    (u128::from(ticks) * u128::from(rate)) >> 32
}

impl Conversion {
    fn new(calibration: Calibration, anchor: Anchor) -> Option<Self> {
        let Calibration {
            rate,
            rate_error,
            since,
            ..
        } = calibration;
        let age = anchor.ticks.wrapping_sub(since);
        if rate == 0 || age.cast_signed() < 0 {
            return None;
        }
        // A rate that is slightly too high would give a time below zero.
        let most = (u128::from(anchor.ns) << 32) / u128::from(rate);
        let age = age.min(u64::try_from(most).unwrap_or(u64::MAX));
        let base = anchor.ns - u64::try_from(ns_of(age, rate)).ok()?;
        let room = (u128::from(u64::MAX - base) << 32) / u128::from(rate);
        Some(Self {
            first: anchor.ticks.wrapping_sub(age),
            base,
            // Half of the ticks there are: the other half is before the first.
            span: u64::try_from(room).unwrap_or(u64::MAX).min(u64::MAX / 2),
            rate,
            // The rate is rounded down to a unit.
            rate_error: rate_error.saturating_add((1 << 32) / rate + 1),
            anchor: anchor.ticks,
            // Plus one tick: a stamp is rounded down.
            anchor_error_ns: u64::try_from(ns_of(anchor.half_width + 1, rate))
                .ok()?
                .saturating_add(NOISE_NS as u64 + 2),
        })
    }

    /// The time of a stamp: not below that of an earlier stamp by this conversion.
    ///
    /// `None` for a stamp from before the clock's first reading, or before the last fault of the counter or suspend that the
    /// clock has noticed: what the counter did between is unknown. A move to another host is noticed by `/dev/vmclock0`, or as a
    /// jump of the counter beyond what the kernel may slew.
    ///
    /// After a counter that went back, stamps from before are not refused: it passes their values again, so they are
    /// converted as later ones. [`Status::faults`](super::Status::faults) tells that there was a fault. A stamp that is
    /// later than the conversion is converted as if the counter went on at its rate.
    ///
    /// Cost: a multiplication, a predictable branch and three other instructions.
    #[inline]
    pub fn time<O: Order>(&self, stamp: Ticks<O>) -> Option<ConvertedTime<O>> {
        let ticks = stamp.raw().wrapping_sub(self.first);
        // Invariant 1.
        (ticks < self.span).then(|| ConvertedTime {
            ns: self.base + ns_of(ticks, self.rate) as u64,
            order: PhantomData,
        })
    }

    /// A bound of a time's distance from CLOCK_MONOTONIC at the stamp.
    ///
    /// It is the error of the kernel's reading, some tens of nanoseconds, plus 977 ppm of the time between that and the
    /// stamp, plus the error of the rate. It holds while the counter is steady and the kernel's clock keeps to the learnt rate
    /// within 977 ppm. A kernel that does not slew keeps to it within about 1 ppm, and then times are as much better.
    ///
    /// It does not hold for a stamp from before the counter went back (see [`time`](Self::time)), nor across a jump smaller
    /// than what the kernel may slew, which nobody can notice.
    pub fn error<O: Order>(&self, stamp: Ticks<O>) -> Duration {
        let distance = stamp.raw().wrapping_sub(self.anchor).cast_signed().unsigned_abs();
        let ns = u64::try_from(ns_of(distance, self.rate)).unwrap_or(u64::MAX);
        let of_rate = ns_of(ns, self.rate_error) + u128::from(ns >> SLEW_SHIFT) + 2;
        let of_rate = u64::try_from(of_rate).unwrap_or(u64::MAX);
        Duration::from_nanos(self.anchor_error_ns.saturating_add(of_rate))
    }
}

impl<O: Order> ConvertedTime<O> {
    /// Nanoseconds of CLOCK_MONOTONIC.
    #[inline]
    pub fn as_nanos(self) -> u64 {
        self.ns
    }

    /// The time from `earlier`, of the same conversion, to this; zero if `earlier` is later.
    #[inline]
    pub fn duration_since(&self, earlier: Self) -> Duration {
        Duration::from_nanos(self.ns.saturating_sub(earlier.ns))
    }
}

comparable!(ConvertedTime, ns);

impl<O: Order> fmt::Debug for ConvertedTime<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ConvertedTime")
            .field(&Duration::from_nanos(self.ns))
            .finish()
    }
}

#[cfg(all(test, feature = "std", not(loom)))]
mod tests;
