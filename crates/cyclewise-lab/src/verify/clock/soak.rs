//! A soak: clocks compared with CLOCK_MONOTONIC for a long time. Errors stay within the bound, and no clock goes back.
//!
//! A sample is our time between two readings of the kernel's clock. Its distance outside the two is certain error, and
//! is compared with the bound. Percentiles are of its distance from their middle, if the two are close together.

use super::histogram::Histogram;
use super::pair::Outcome;
use super::skewed::Skewed;
use crate::sys::{clock as kernel, interrupt};
use cyclewise::clock::{Clock, LoadOrdered, Source, Status};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// Sleep between samples: short enough that the clock always reads the counter, long enough to leave the CPU to others.
const NAP: Duration = Duration::from_micros(50);
/// If two of the kernel's times are further apart, something interrupted the sample.
const CLOSE_NS: u64 = 400;

/// Observations of one of our clocks.
pub(super) struct Seen {
    /// Distance from CLOCK_MONOTONIC, in nanoseconds.
    pub(super) error: Histogram,
    /// Samples whose error exceeded their stated bound.
    pub(super) beyond: Outcome,
    /// Times below this thread's previous one, or below the other thread's latest.
    pub(super) back: Outcome,
    /// The largest bound that was stated.
    pub(super) bound: u64,
    last: u64,
}

/// Observations of all clocks.
pub(super) struct Soaked {
    /// The process's clock.
    pub(super) ours: Seen,
    /// A clock whose counter has an error in its rate.
    pub(super) skewed: Seen,
    /// How far quanta had drifted at the end, in nanoseconds.
    pub(super) quanta_ns: i64,
    /// How far CLOCK_MONOTONIC_RAW had drifted, which is what NTP slewed.
    pub(super) raw_ns: i64,
    /// How long it took.
    pub(super) time: Duration,
    /// The skewed clock's status.
    pub(super) skewed_status: Status,
}

impl Seen {
    fn new() -> Self {
        Self {
            error: Histogram::new(),
            beyond: Outcome::default(),
            back: Outcome::default(),
            bound: 0,
            last: 0,
        }
    }

    fn sample<S: Source>(&mut self, clock: &Clock<S>) {
        let before = kernel::monotonic_ns();
        let reading = clock.reading::<LoadOrdered>();
        let after = kernel::monotonic_ns();
        self.judge(
            before,
            reading.instant.as_nanos(),
            after,
            reading.error.as_nanos() as u64,
        );
    }

    fn judge(&mut self, before: u64, now: u64, after: u64, bound: u64) {
        let off = before.saturating_sub(now).max(now.saturating_sub(after));
        self.beyond.compare(off, bound);
        self.bound = self.bound.max(bound);
        if after - before <= CLOSE_NS {
            self.error.count(now.abs_diff(before + (after - before) / 2));
        }
        self.back.compare(self.last, now);
        self.last = now;
    }
}

static SKEWED: Clock<Skewed> = Clock::new(Skewed);

/// Samples for `time`; calls `step` with the share of it that has passed.
///
/// # Errors
/// If the other thread cannot be created.
pub(super) fn soak(time: Duration, mut step: impl FnMut(f64)) -> io::Result<Soaked> {
    let (told, over) = (AtomicU64::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        // Another thread, not pinned, publishes its readings.
        let tell = || {
            while !over.load(Ordering::Relaxed) {
                // Release: pairs with the Acquire below.
                told.store(Clock::process().now().as_nanos(), Ordering::Release);
                std::thread::sleep(NAP);
            }
        };
        Builder::new().spawn_scoped(scope, tell)?;
        let soaked = alone(time, &told, &mut step);
        over.store(true, Ordering::Relaxed);
        Ok(soaked)
    })
}

fn alone(time: Duration, told: &AtomicU64, step: &mut impl FnMut(f64)) -> Soaked {
    let quanta = quanta::Clock::new();
    let (mut ours, mut skewed) = (Seen::new(), Seen::new());
    let begun = Instant::now();
    let first = drifts(&quanta);
    let mut stepped = Duration::ZERO;
    loop {
        // Acquire: pairs with the Release above.
        let earlier = told.load(Ordering::Acquire);
        let now = Clock::process().now().as_nanos();
        ours.back.compare(earlier, now);
        ours.sample(Clock::process());
        skewed.sample(&SKEWED);
        let elapsed = begun.elapsed();
        if elapsed >= time || interrupt::asked() {
            break;
        }
        if elapsed - stepped > Duration::from_secs(1) {
            stepped = elapsed;
            step(elapsed.as_secs_f64() / time.as_secs_f64());
        }
        std::thread::sleep(NAP);
    }
    let last = drifts(&quanta);
    Soaked {
        ours,
        skewed,
        quanta_ns: last[0] - first[0],
        raw_ns: last[1] - first[1],
        time: begun.elapsed(),
        skewed_status: SKEWED.status(),
    }
}

/// How far quanta and CLOCK_MONOTONIC_RAW are ahead of CLOCK_MONOTONIC: the closest of a few tries.
fn drifts(quanta: &quanta::Clock) -> [i64; 2] {
    let ahead = |read: &dyn Fn() -> u64| {
        let tries = (0..20).map(|_| {
            let before = kernel::monotonic_ns();
            let other = read();
            let after = kernel::monotonic_ns();
            (
                after - before,
                other.wrapping_sub(before + (after - before) / 2).cast_signed(),
            )
        });
        tries.min().map_or(0, |(_, ahead)| ahead)
    };
    [
        ahead(&|| quanta.delta_as_nanos(0, quanta.raw())),
        ahead(&kernel::monotonic_raw_ns),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_outside_of_the_two_is_off_and_held_against_the_bound() {
        let mut seen = Seen::new();
        seen.judge(100, 110, 140, 5);
        seen.judge(200, 260, 240, 20);
        assert_eq!((seen.beyond.events, seen.error.max, seen.back.events), (0, 40, 0));
        seen.judge(300, 250, 340, 10);
        assert_eq!((seen.beyond.events, seen.beyond.worst, seen.back.events), (1, 40, 1));
        seen.judge(1_000, 5_000, 10_000, 0);
        assert_eq!(seen.error.total(), 3, "too far apart to measure the error");
    }

    #[test]
    fn a_short_soak_sees_both_clocks() {
        let soaked = soak(Duration::from_millis(300), |_| {}).unwrap();
        assert!(soaked.ours.beyond.tries > 0 && soaked.skewed.beyond.tries > 0);
        assert_eq!((soaked.ours.back.events, soaked.skewed.back.events), (0, 0));
    }
}
