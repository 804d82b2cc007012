//! From anchors to segments: the rate of the counter against CLOCK_MONOTONIC, and the steering that follows it.
//!
//! The rate is the slope between two [anchors](Anchor) half a second to a second apart, or less while there are none so
//! far apart: it is used from the first millisecond on, for segments no longer than it has been observed, and becomes
//! more accurate with time. If an anchor is not where the rate predicts, older ones are forgotten, so that a change of
//! rate is followed within two segments.
//!
//! Two anchors have a slope even if the counter jumped between them. A slope is used only after the anchors of the next
//! half millisecond confirm it: segments end at a tick, and with a wrong rate would last too long.
//!
//! A segment that follows another begins at its end, and is steered to meet the kernel's clock at its own end.
//!
//! # Cost
//! Once per segment, in one reader: an anchor, 0.1 µs, and a hundred instructions.

use super::anchor::{Anchor, SleepTime};
use super::reason::{Reason, SLEW_SHIFT};
use super::segment::{Calibration, Segment, floor};
use super::source::Source;

/// The longest segment. Its error bound grows by 4 µs over it, by what the kernel may slew, and an anchor, half a
/// microsecond, is 10^-4 of it.
pub(super) const LONGEST_NS: u64 = 4_000_000;
/// The shortest segment that follows another.
const SHORTEST_NS: u64 = 200_000;
/// No segment has more ticks (Invariant 3 of `segment`). Only a counter of more than a terahertz would have.
const MAX_TICKS: f64 = u32::MAX as f64;
/// The segment that ends a gap: at 977 ppm too fast it runs ahead of the kernel's clock by at most 0.1 µs, plus a tick and the
/// error of the rate.
const BRIDGE_NS: u64 = 100_000;
/// A rate is learnt over so long, and confirmed over as long again. Two anchors are accurate to 20 ns each, so 40 ppm
/// over both.
pub(super) const LEARN_NS: u64 = 500_000;
/// A rate whose error may reach this share, because other work made its anchors wide, is not used.
const MAX_RATE_ERROR: f64 = 0.125;
/// The baseline of the rate is between half of this and this.
const WINDOW_NS: u64 = 1_000_000_000;
/// An increase of CLOCK_BOOTTIME minus CLOCK_MONOTONIC by more than this is a suspend.
const SUSPEND_NS: u64 = 10_000_000;
/// The error of an anchor, besides its half-width, above which the rate is learnt anew: the kernel dithers its
/// multiplier by a unit, 0.15 ppm, and rounds to nanoseconds.
pub(super) const NOISE_NS: f64 = 3.0;
const NOISE_PPM: f64 = 1.0;

/// One unit of a segment's multiplier.
const UNIT: f64 = 4_294_967_296.0;

/// Nanoseconds of CLOCK_MONOTONIC per tick.
#[derive(Clone, Copy, Debug)]
enum Rate {
    /// No two anchors are far enough apart yet.
    Unknown,
    /// The slope between two anchors, which a jump of the counter between them would distort.
    Unconfirmed {
        slope: f64,
        /// The later of the two.
        since_ns: u64,
    },
    /// A slope that later anchors have confirmed.
    Confirmed(f64),
}

/// The estimate of the counter's rate.
#[derive(Debug)]
pub(super) struct Discipline {
    /// The oldest anchor of the baseline, the one that will replace it, and the last.
    anchors: Option<[Anchor; 3]>,
    rate: Rate,
    /// The error bound of the rate, as a share of it, because its two anchors are intervals.
    rate_error: f64,
    /// The smallest half-width so far.
    narrowest: u64,
    /// A tick after the first anchor since the last fault.
    since: u64,
    /// The number of faults that the clock has recorded.
    pub(super) faults: u64,
}

impl Discipline {
    pub(super) const fn new() -> Self {
        Self {
            anchors: None,
            rate: Rate::Unknown,
            rate_error: 0.0,
            narrowest: 0,
            since: 0,
            faults: 0,
        }
    }

    /// Nanoseconds per tick, once the rate is confirmed.
    pub(super) fn rate(&self) -> Option<f64> {
        match self.rate {
            Rate::Confirmed(rate) => Some(rate),
            Rate::Unknown | Rate::Unconfirmed { .. } => None,
        }
    }

    /// Nanoseconds per tick between the anchors so far.
    fn slope(&self) -> Option<f64> {
        match self.rate {
            Rate::Confirmed(slope) | Rate::Unconfirmed { slope, .. } => Some(slope),
            Rate::Unknown => None,
        }
    }

    pub(super) fn last(&self) -> Option<Anchor> {
        self.anchors.map(|[.., last]| last)
    }

    /// Takes an anchor and learns from it. CLOCK_BOOTTIME is read only in a gap: after a suspend the clock is in one,
    /// because the counter has gone on or restarted.
    ///
    /// # Errors
    /// The fault, if the anchor contradicts the rate. The rate is then forgotten and learnt from this anchor on.
    pub(super) fn observe<S: Source>(&mut self, source: &S, in_gap: bool) -> Result<Anchor, Reason> {
        let mut anchor = Anchor::take(source, self.narrowest);
        anchor.sleep_time = match self.last() {
            Some(last) if !in_gap => last.sleep_time,
            _ => SleepTime::read(source),
        };
        if self.narrowest == 0 || anchor.half_width < self.narrowest {
            self.narrowest = anchor.half_width;
        }
        self.learn(anchor)?;
        Ok(anchor)
    }

    fn learn(&mut self, anchor: Anchor) -> Result<(), Reason> {
        let Some([old, middle, last]) = self.anchors else {
            self.begin(anchor);
            return Ok(());
        };
        let mut kept = [old, middle, anchor];
        if let Err(reason) = self.compare(last, anchor) {
            self.begin(anchor);
            return Err(reason);
        }
        if self.rate().is_some_and(|rate| !fits(rate, last, anchor)) {
            kept = [last, anchor, anchor];
        } else if anchor.ns.saturating_sub(middle.ns) >= WINDOW_NS / 2 {
            kept = [middle, anchor, anchor];
        }
        // A window that moves on keeps a baseline: its start is the former middle, half a second ago, or the last
        // anchor.
        let from = kept[0];
        self.anchors = Some(kept);
        let (ticks, ns) = (anchor.ticks.wrapping_sub(from.ticks), anchor.ns.saturating_sub(from.ns));
        if ns >= LEARN_NS || self.rate().is_some() && ns >= SHORTEST_NS / 4 {
            let width = from.half_width + anchor.half_width;
            self.rate_error = width as f64 / ticks.saturating_sub(width) as f64;
            let slope = Some(ns as f64 / ticks as f64).filter(|slope| *slope > 0.0 && self.rate_error < MAX_RATE_ERROR);
            self.rate = slope.map_or(Rate::Unknown, |slope| self.rate.with(slope, anchor.ns));
        }
        Ok(())
    }

    /// Forgets what was learnt before this anchor.
    fn begin(&mut self, anchor: Anchor) {
        (self.anchors, self.rate) = (Some([anchor; 3]), Rate::Unknown);
        self.since = anchor.ticks.wrapping_add(anchor.half_width);
    }

    /// What segments say of the rate.
    fn calibration(&self, rate: f64) -> Calibration {
        Calibration {
            rate: (rate * UNIT) as u64,
            rate_error: ((self.rate_error * UNIT) as u64).saturating_add(1),
            since: self.since,
            faults: self.faults,
        }
    }

    /// Checks that the counter and the kernel's clocks advanced together since the last anchor.
    fn compare(&self, last: Anchor, now: Anchor) -> Result<(), Reason> {
        let ticks = now.ticks.wrapping_sub(last.ticks).cast_signed();
        if now.sleep_time.min_ns > last.sleep_time.max_ns.saturating_add(SUSPEND_NS) {
            return Err(Reason::Suspended);
        }
        if ticks < 0 {
            return Err(Reason::CounterWentBack);
        }
        // Set back while the rate was being learnt: no slope begins before that.
        if now.ns < last.ns {
            return Err(Reason::CounterJumped);
        }
        let Some(rate) = self.slope() else {
            return Ok(());
        };
        let (ns, raw) = (
            now.ns.saturating_sub(last.ns) as f64,
            now.raw_ns.saturating_sub(last.raw_ns) as f64,
        );
        let expected = ticks as f64 * rate;
        // The reading of the raw clock is not bracketed and may be a preemption late, so it only distinguishes two
        // reasons.
        let slew = ns.max(expected) / f64::from(1u32 << SLEW_SHIFT);
        let allowed = slew + expected * self.rate_error + widths(rate, last, now) + NOISE_NS;
        if (ns - expected).abs() <= allowed {
            Ok(())
        } else if (raw - expected).abs() > (raw - ns).abs() {
            Err(Reason::CounterJumped)
        } else {
            Err(Reason::RateStep)
        }
    }

    /// How long the rate has been observed.
    fn baseline_ns(&self) -> u64 {
        self.anchors.map_or(0, |[old, _, last]| last.ns.saturating_sub(old.ns))
    }

    /// The segment after `previous`, from its end on; `None` while the rate is unknown.
    pub(super) fn successor(&self, previous: &Segment, anchor: Anchor) -> Option<Segment> {
        let rate = self.rate()?;
        let (start, base) = (previous.end(), previous.end_ns());
        let length_ns = self.baseline_ns().clamp(SHORTEST_NS, LONGEST_NS) as f64;
        // How many nanoseconds `previous` is ahead of the kernel's clock at its end. As a difference of differences,
        // because after 104 days a time since boot does not fit a float to the nanosecond.
        let lead = start.wrapping_sub(anchor.ticks).cast_signed() as f64 * rate;
        let ahead = base.wrapping_sub(anchor.ns).cast_signed() as f64 - lead;
        // Between half the rate and twice. The rest is steered away later, and is part of the error meanwhile.
        let steered = (length_ns - ahead).clamp(length_ns / 2.0, length_ns * 2.0);
        let length = length_ns / rate;
        let rate_error = (lead.abs() + length_ns) * self.rate_error;
        let slew = lead.abs() / f64::from(1u32 << SLEW_SHIFT);
        let ticks = length.min(MAX_TICKS);
        // The anchor's width, and the tick that a reading finds begun.
        let width = (anchor.half_width + 1) as f64 * rate;
        let error = ahead.abs() + width + slew + rate_error + NOISE_NS;
        Some(Segment {
            number: previous.number + 1,
            start,
            base,
            mult: (steered / length * UNIT) as u64,
            fast: (ticks * 0.75) as u64,
            length: ticks as u64,
            error_ns: (error as u64).saturating_add(1),
            calibration: self.calibration(rate),
        })
    }

    /// The segment that ends the gap after `previous`: from the anchor on, never behind the kernel's clock. `None`
    /// while the rate is unknown, or while the gap's floor is above the kernel's clock.
    pub(super) fn bridge(&self, previous: &Segment, anchor: Anchor) -> Option<Segment> {
        let rate = self.rate()?;
        // Faster than the kernel's clock, whatever that and the rate do.
        let ahead = (1.0 + 1.0 / f64::from(1u32 << SLEW_SHIFT)) * (1.0 + self.rate_error) - 1.0;
        // The kernel's clock was read after `before`, so at `before` it was at most its reading plus 1 ns, because readings are
        // rounded down. A reader finds a tick that began up to a tick ago: the kernel's clock has advanced since, by at most
        // a tick at this speed, rounded up.
        let tick = ((rate * (1.0 + ahead)) as u64).saturating_add(1);
        let base = anchor.ns.saturating_add(1).saturating_add(tick);
        if base < floor(previous.end_ns(), base) {
            return None;
        }
        let (length, width) = (
            (BRIDGE_NS as f64 / rate).min(MAX_TICKS),
            // The kernel's clock may have been read at the end of the anchor, which is up to two half-widths after `before`, and the
            // base is a tick more.
            (2 * anchor.half_width + 1) as f64 * rate,
        );
        Some(Segment {
            number: previous.number + 1,
            start: anchor.before,
            base,
            mult: ((rate * (1.0 + ahead) * UNIT) as u64).saturating_add(1),
            fast: (length * 0.25) as u64,
            length: length as u64,
            error_ns: ((width + NOISE_NS + BRIDGE_NS as f64 * (ahead + self.rate_error)) as u64).saturating_add(1),
            calibration: self.calibration(rate),
        })
    }
}

impl Rate {
    /// The rate after an anchor at `now_ns` that fits and makes the slope `slope`.
    fn with(self, slope: f64, now_ns: u64) -> Self {
        match self {
            Self::Unknown => Self::Unconfirmed {
                slope,
                since_ns: now_ns,
            },
            Self::Unconfirmed { since_ns, .. } if now_ns.saturating_sub(since_ns) < LEARN_NS => {
                Self::Unconfirmed { slope, since_ns }
            }
            Self::Unconfirmed { .. } | Self::Confirmed(_) => Self::Confirmed(slope),
        }
    }
}

/// The half-widths of both, in nanoseconds.
fn widths(rate: f64, a: Anchor, b: Anchor) -> f64 {
    (a.half_width + b.half_width) as f64 * rate
}

/// Whether `now` is where the rate predicts, within the noise.
fn fits(rate: f64, last: Anchor, now: Anchor) -> bool {
    let ns = now.ns.saturating_sub(last.ns) as f64;
    let off = ns - now.ticks.wrapping_sub(last.ticks) as f64 * rate;
    off.abs() <= widths(rate, last, now) + NOISE_NS + ns * NOISE_PPM * 1e-6
}

#[cfg(all(test, feature = "std"))]
mod tests;
