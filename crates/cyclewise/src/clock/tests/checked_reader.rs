//! A reader of a clock on a mock that checks every reading.

use super::super::segment::TickPosition;
use super::super::timeline::SegmentState;
use super::super::{Clock, LoadOrdered, Mock, Mode, Source};
use core::time::Duration;

pub(super) const HZ: u64 = 2_600_000_000;
/// The duration of a reading.
const COST: Duration = Duration::from_nanos(10);
/// No segment lasts longer: 4 ms is the longest at the right rate. One that lasts longer would need a rate that is off
/// by half: jumps of the counter that are alike, to a thousandth, in both halves of the time over which it is learnt.
const LONGEST_NS: u64 = 8_000_000;
/// A counter that is before the current segment by no more than this is taken for another CPU's.
const SKEW_NS: u64 = 1_000;

/// Reads a clock and checks each reading against the last.
pub(super) struct CheckedReader {
    pub(super) mock: Mock,
    pub(super) clock: Clock<Mock>,
    last: u64,
    /// The largest error since this was last set to 0.
    pub(super) max_error_ns: u64,
    /// Whether readings are checked against the error bound.
    pub(super) checks_bound: bool,
    hz: u64,
}

impl CheckedReader {
    /// A clock that was never read.
    pub(super) fn new() -> Self {
        Self::with_counter(HZ)
    }

    /// The same with a counter of `hz` ticks per second.
    pub(super) fn with_counter(hz: u64) -> Self {
        let mock = Mock::new(hz);
        mock.reading_takes(COST);
        Self {
            clock: Clock::new(mock.clone()),
            mock,
            last: 0,
            max_error_ns: 0,
            checks_bound: true,
            hz,
        }
    }

    /// A clock that has read the counter for a while.
    pub(super) fn warm() -> Self {
        let mut reader = Self::new();
        reader.read_for(Duration::from_millis(1500), Duration::from_micros(50));
        assert_eq!(reader.clock.status().mode, Mode::Counter);
        reader.max_error_ns = 0;
        reader
    }

    /// Reads once and checks that the reading is not below the last, and within the bound.
    pub(super) fn read(&mut self) -> u64 {
        let before = self.mock.peek_ns();
        let reading = self.clock.reading::<LoadOrdered>();
        let after = self.mock.peek_ns();
        let ns = reading.instant.as_nanos();
        assert!(ns >= self.last, "{ns} after {}", self.last);
        self.last = ns;
        let off = before.saturating_sub(ns).max(ns.saturating_sub(after));
        let bound = reading.error.as_nanos() as u64;
        assert!(!self.checks_bound || off <= bound, "{off} ns off, said {bound}");
        self.max_error_ns = self.max_error_ns.max(off);
        let length_ns = u128::from(self.clock.timeline.read().length) * 1_000_000_000 / u128::from(self.hz);
        assert!(length_ns <= u128::from(LONGEST_NS), "a segment of {length_ns} ns");
        ns
    }

    /// Makes the counter jump back. No reading may be below the last one, with the exception in the clock's
    /// documentation: a tick inside the current segment afterwards has the segment's time, and one before it by no more
    /// than the counters of two CPUs may differ has that of its start.
    pub(super) fn jump_back(&mut self, ticks: u64) {
        let segment = self.clock.timeline.read();
        let state = self.clock.timeline.state(segment.number);
        let now = self.mock.bracketed();
        self.mock.jump(-ticks.cast_signed());
        if state == SegmentState::Gap {
            return;
        }
        let least = match segment.position(now - ticks) {
            TickPosition::Within(ns) => ns,
            TickPosition::Before(by) if by.saturating_mul(segment.mult) >> 32 <= SKEW_NS => segment.base,
            TickPosition::Before(_) | TickPosition::After => return,
        };
        self.last = self.last.min(least);
    }

    /// Moves the kernel's clocks. The readings of 5 ms, in which the last segments end, are not checked.
    pub(super) fn move_clocks(&mut self, ns: i64) {
        self.mock.move_clocks(ns);
        for _ in 0..500 {
            self.mock.advance(Duration::from_micros(10));
            self.clock.now();
        }
        self.last = 0;
    }

    pub(super) fn read_for(&mut self, time: Duration, step: Duration) {
        let end = self.mock.peek_ns() + time.as_nanos() as u64;
        while self.mock.peek_ns() < end {
            self.mock.advance(step);
            self.read();
        }
    }
}
