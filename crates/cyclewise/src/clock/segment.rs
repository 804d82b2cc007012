//! A straight piece of the timeline: nanoseconds as a function of ticks, from a first tick to before a last.
//!
//! `ns(t) = base + (t - start) * mult / 2^32`, rounded down. One multiplication and one shift, whose latency is all that a
//! read adds to the counter's own.
//!
//! # Invariants
//! 1. `length * mult < 2^64`, so that the product fits: a segment lasts less than 2^32 ns, 4.3 s.
//! 2. `fast <= length`.

use super::reason::SLEW_SHIFT;

/// One segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    /// Its place in the row of all segments; each has one more than the one before.
    pub(super) number: u64,
    /// The first tick.
    pub(super) start: u64,
    /// Nanoseconds at `start`.
    pub(super) base: u64,
    /// Nanoseconds per tick, in units of 2^-32.
    pub(super) mult: u64,
    /// Ticks from `start` within which a reader need not look at anything else.
    pub(super) fast: u64,
    /// Ticks from `start` within which it is valid.
    pub(super) length: u64,
    /// How far from CLOCK_MONOTONIC it may be at `start`.
    pub(super) error_ns: u64,
}

/// Where a tick lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TickPosition {
    /// This many ticks before the start.
    Before(u64),
    /// At these nanoseconds.
    Within(u64),
    /// At or past the end.
    After,
}

impl Segment {
    /// The nanoseconds `delta` ticks after the start, where `delta <= length`.
    #[inline(always)]
    pub(super) fn ns_after(base: u64, mult: u64, delta: u64) -> u64 {
        // Invariant 1: it does not wrap for any delta that a reader has compared with the length.
        base.wrapping_add(delta.wrapping_mul(mult) >> 32)
    }

    /// Where `ticks` lies.
    pub(super) fn position(&self, ticks: u64) -> TickPosition {
        let delta = ticks.wrapping_sub(self.start);
        if delta < self.length {
            TickPosition::Within(Self::ns_after(self.base, self.mult, delta))
        } else if delta.cast_signed() < 0 {
            TickPosition::Before(delta.wrapping_neg())
        } else {
            TickPosition::After
        }
    }

    /// The first tick past it.
    pub(super) fn end(&self) -> u64 {
        self.start.wrapping_add(self.length)
    }

    /// No less than any of its values, and what a successor that follows on it begins with.
    pub(super) fn end_ns(&self) -> u64 {
        Self::ns_after(self.base, self.mult, self.length)
    }

    /// How far from CLOCK_MONOTONIC it may be `ns - base` after its start: what it was, and what the kernel may slew.
    pub(super) fn error_at(&self, ns: u64) -> u64 {
        let slew = ns.saturating_sub(self.base) >> SLEW_SHIFT;
        // A source may say anything, and then the error is anything too.
        self.error_ns.saturating_add(slew + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HALF: Segment = Segment {
        number: 1,
        start: 1000,
        base: 70,
        mult: 1 << 31,
        fast: 50,
        length: 100,
        error_ns: 5,
    };

    #[test]
    fn a_tick_is_before_within_or_after() {
        assert_eq!(HALF.position(999), TickPosition::Before(1));
        assert_eq!(HALF.position(1000), TickPosition::Within(70));
        assert_eq!(HALF.position(1003), TickPosition::Within(71));
        assert_eq!(HALF.position(1099), TickPosition::Within(119));
        assert_eq!(HALF.position(1100), TickPosition::After);
        assert_eq!(HALF.end_ns(), 120);
        assert_eq!(Segment { length: 0, ..HALF }.position(1000), TickPosition::After);
    }

    #[test]
    fn a_counter_may_wrap_inside() {
        let segment = Segment {
            start: u64::MAX - 1,
            ..HALF
        };
        assert_eq!(segment.position(2), TickPosition::Within(72));
        assert_eq!(segment.position(u64::MAX - 3), TickPosition::Before(2));
    }

    #[test]
    fn the_error_grows_with_what_the_kernel_may_slew() {
        assert_eq!(HALF.error_at(70), 6);
        assert_eq!(HALF.error_at(70 + (10 << SLEW_SHIFT)), 16);
    }
}
