//! A reading of the kernel's clock between two readings of the counter.

use super::source::Source;

/// At most so many attempts to read an anchor without an interruption.
const TRIES: usize = 3;
/// An anchor no wider than this multiple of the narrowest is accepted at once.
const NARROW: f64 = 1.5;
/// The half-width of an anchor during which the counter went back. The sum of two of these, and of a few ticks, does not overflow.
const WIDEST: u64 = 1 << 61;

/// The kernel's clock at a tick.
#[derive(Clone, Copy, Debug)]
pub(super) struct Anchor {
    /// The counter just before.
    pub(super) before: u64,
    /// The middle between the counter before and after.
    pub(super) ticks: u64,
    /// CLOCK_MONOTONIC at some tick between the two.
    pub(super) ns: u64,
    /// Half of the ticks between the two, and of the tick that the second had begun: at least one. 2^61 if the counter
    /// went back between the two.
    pub(super) half_width: u64,
    /// CLOCK_MONOTONIC_RAW, soon after.
    pub(super) raw_ns: u64,
    /// As of the last reading in a gap.
    pub(super) sleep_time: SleepTime,
}

/// The time suspended, CLOCK_BOOTTIME minus CLOCK_MONOTONIC: an interval, because reading both takes time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SleepTime {
    pub(super) min_ns: u64,
    pub(super) max_ns: u64,
}

impl SleepTime {
    pub(super) fn read<S: Source>(source: &S) -> Self {
        let before = source.monotonic_ns();
        let boottime = source.boottime_ns();
        let after = source.monotonic_ns();
        Self {
            min_ns: boottime.saturating_sub(after),
            max_ns: boottime.saturating_sub(before),
        }
    }
}

impl Anchor {
    /// The narrowest of a few attempts; the first is enough if it is hardly wider than `narrowest` ticks.
    pub(super) fn take<S: Source>(source: &S, narrowest: u64) -> Self {
        let mut best = Self::once(source);
        for _ in 1..TRIES {
            if best.half_width as f64 <= NARROW * narrowest as f64 {
                break;
            }
            let anchor = Self::once(source);
            if anchor.half_width < best.half_width {
                best = anchor;
            }
        }
        best.raw_ns = source.raw_ns();
        best
    }

    fn once<S: Source>(source: &S) -> Self {
        let before = source.bracketed();
        let ns = source.monotonic_ns();
        let width = source.bracketed().wrapping_sub(before);
        // A counter that went back between the two: such an anchor is not the narrowest of any others.
        let (half_width, ticks) = if width.cast_signed() < 0 {
            (WIDEST, before)
        } else {
            (width / 2 + 1, before.wrapping_add(width / 2 + 1))
        };
        Self {
            before,
            ticks,
            ns,
            half_width,
            raw_ns: 0,
            sleep_time: SleepTime::default(),
        }
    }
}
