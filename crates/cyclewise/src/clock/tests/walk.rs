//! A clock on a mock, and somebody who reads it and checks every reading.

use super::super::{Clock, LoadOrdered, Mock, Mode};
use core::time::Duration;

pub(super) const HZ: u64 = 2_600_000_000;
/// What a reading takes.
const COST: Duration = Duration::from_nanos(10);

/// Reads a clock, and keeps what it saw last.
pub(super) struct Walk {
    pub(super) mock: Mock,
    pub(super) clock: Clock<Mock>,
    last: u64,
    /// The largest error seen since this was last set to 0, in nanoseconds.
    pub(super) worst: u64,
    /// Whether the error bound is to be held.
    pub(super) bounded: bool,
}

impl Walk {
    /// A clock that was never read.
    pub(super) fn new() -> Self {
        let mock = Mock::new(HZ);
        mock.reading_takes(COST);
        Self {
            clock: Clock::new(mock.clone()),
            mock,
            last: 0,
            worst: 0,
            bounded: true,
        }
    }

    /// One that reads the counter and has done so for a while.
    pub(super) fn warm() -> Self {
        let mut walk = Self::new();
        walk.on(Duration::from_millis(1500), Duration::from_micros(50));
        assert_eq!(walk.clock.status().mode, Mode::Counter);
        walk.worst = 0;
        walk
    }

    /// Reads once: not below the last, and within the bound.
    pub(super) fn read(&mut self) -> u64 {
        let before = self.mock.peek_ns();
        let reading = self.clock.reading::<LoadOrdered>();
        let after = self.mock.peek_ns();
        let ns = reading.instant.as_nanos();
        assert!(ns >= self.last, "{ns} after {}", self.last);
        self.last = ns;
        let off = before.saturating_sub(ns).max(ns.saturating_sub(after));
        let bound = reading.error.as_nanos() as u64;
        assert!(!self.bounded || off <= bound, "{off} ns off, said {bound}");
        self.worst = self.worst.max(off);
        ns
    }

    /// Reads every `step` for `time`.
    pub(super) fn on(&mut self, time: Duration, step: Duration) {
        let end = self.mock.peek_ns() + time.as_nanos() as u64;
        while self.mock.peek_ns() < end {
            self.mock.advance(step);
            self.read();
        }
    }
}
