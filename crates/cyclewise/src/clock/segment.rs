//! A linear piece of the timeline: nanoseconds as a function of ticks, over a range of ticks.
//!
//! `ns(t) = base + (t - start) * mult / 2^32`, rounded down: a subtraction, a multiplication, a shift and an addition of
//! latency after the counter.
//!
//! # Invariants
//! 1. `length * mult < 2^64`: the product does not overflow, and a segment lasts less than 2^32 ns, 4.3 s.
//! 2. `fast <= length`.
//! 3. `length < 2^32`.

use super::reason::SLEW_SHIFT;

/// A time that is further ahead of the kernel's clock than this is from before that was set back. The clock itself is ahead by two
/// segments at most, 16 ms, whatever the counter does.
const SET_BACK_NS: u64 = 100_000_000;

/// What readings do not go below, given a time that was read before and the kernel's clock or a time read since. CLOCK_MONOTONIC goes
/// back where the process enters another time namespace or is restored from a checkpoint. Then it is followed: otherwise the clock
/// would stand still for as long as it went back.
pub(super) fn floor(read_ns: u64, now_ns: u64) -> u64 {
    if read_ns.saturating_sub(now_ns) > SET_BACK_NS {
        0
    } else {
        read_ns
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    /// Consecutive numbers identify the segments.
    pub(super) number: u64,
    /// The first tick.
    pub(super) start: u64,
    /// Nanoseconds at `start`.
    pub(super) base: u64,
    /// Nanoseconds per tick, in units of 2^-32.
    pub(super) mult: u64,
    /// Ticks from `start` within which the fast path of a reader needs nothing else.
    pub(super) fast: u64,
    /// Ticks from `start` for which the segment is valid.
    pub(super) length: u64,
    /// The error bound against CLOCK_MONOTONIC at `start`.
    pub(super) error_ns: u64,
    /// As of when the segment was made.
    pub(super) calibration: Calibration,
}

/// What is known of the counter's rate. A segment is steered, so its multiplier is not the rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Calibration {
    /// Nanoseconds per tick, in units of 2^-32; 0 unknown.
    pub(super) rate: u64,
    /// The error bound of the rate, as a share of it in units of 2^-32.
    pub(super) rate_error: u64,
    /// A tick from which on no fault was found.
    pub(super) since: u64,
    pub(super) faults: u64,
}

/// Where a tick is, relative to a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TickPosition {
    /// So many ticks before the start.
    Before(u64),
    /// Inside, at these nanoseconds.
    Within(u64),
    /// At or past the end.
    After,
}

impl Segment {
    /// The nanoseconds `delta` ticks after the start, where `delta <= length`.
    #[inline(always)]
    pub(super) fn ns_after(base: u64, mult: u64, delta: u64) -> u64 {
        // Invariant 1: no overflow for any delta below the length.
        base.wrapping_add(delta.wrapping_mul(mult) >> 32)
    }

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

    /// The first tick after the segment.
    pub(super) fn end(&self) -> u64 {
        self.start.wrapping_add(self.length)
    }

    /// An upper bound of the segment's values, and the base of a successor that follows without a gap.
    pub(super) fn end_ns(&self) -> u64 {
        Self::ns_after(self.base, self.mult, self.length)
    }

    /// The error bound against CLOCK_MONOTONIC at `ns`: the bound at the start, and what the kernel may have slewed
    /// since.
    pub(super) fn error_at(&self, ns: u64) -> u64 {
        let slew = ns.saturating_sub(self.base) >> SLEW_SHIFT;
        // Saturating: a source may return any number.
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
        calibration: Calibration {
            rate: 1 << 31,
            rate_error: 0,
            since: 900,
            faults: 0,
        },
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
    fn a_floor_is_kept_unless_the_kernels_clock_was_set_back() {
        assert_eq!(floor(SET_BACK_NS + 7, 7), SET_BACK_NS + 7);
        assert_eq!(floor(SET_BACK_NS + 8, 7), 0);
        assert_eq!(floor(7, u64::MAX), 7);
    }

    #[test]
    fn the_error_grows_with_what_the_kernel_may_slew() {
        assert_eq!(HALF.error_at(70), 6);
        assert_eq!(HALF.error_at(70 + (10 << SLEW_SHIFT)), 16);
    }
}
