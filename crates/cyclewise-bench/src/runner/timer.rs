//! The time stamp counter as a stopwatch: its noise, and its rate by the kernel's raw clock.
//!
//! # Cost
//! `noise` takes about 100 µs. The precision of a rate between two [`Anchor`]s depends on their span: each is uncertain
//! by some tens of nanoseconds, so the rate is good to 100 ppm over 1 ms and to 0.1 ppm over 1 s.

use crate::arch::stamp;
use crate::sys::clock;

/// Stamp pairs that measure the noise: enough for a stable 95th percentile.
const PAIRS: usize = 2001;

/// Timer noise must stay under 0.1 % of a sample; the slope subtracts two batches, hence the square root of two.
const NOISE_SHARE: f64 = 1e-3 / std::f64::consts::SQRT_2;

/// The longest batch has at least this many ticks more than the shortest: in less, the call and the pipeline's drain are
/// not constant to 0.1 %.
const SHORTEST_SPAN: f64 = 20_000.0;

/// The slope spans the difference of the longest batch and the shortest: 4U − U copies.
const SPAN: f64 = 3.0;

/// Spread (5th to 95th percentile) of two stamps with nothing between, in ticks; at least one step of the counter.
pub fn noise() -> f64 {
    let mut spans: Vec<u64> = (0..PAIRS)
        .map(|_| {
            let start = stamp::start();
            stamp::stop() - start
        })
        .collect();
    spans.sort_unstable();
    let spread = spans[PAIRS * 95 / 100] - spans[PAIRS * 5 / 100];
    spread.max(step(&spans)) as f64
}

/// The counter's step: some count by tens of ticks at once.
fn step(sorted: &[u64]) -> u64 {
    sorted
        .windows(2)
        .map(|w| w[1] - w[0])
        .filter(|d| *d > 0)
        .min()
        .unwrap_or(1)
}

/// Ticks that the batch of U copies must last for `noise` to be under 0.1 % of its sample.
pub fn shortest_batch(noise: f64) -> f64 {
    (noise / NOISE_SHARE).max(SHORTEST_SPAN) / SPAN
}

/// One instant on both clocks.
#[derive(Clone, Copy, Debug)]
pub struct Anchor {
    /// The time stamp counter.
    pub ticks: u64,
    /// CLOCK_MONOTONIC_RAW.
    pub raw_ns: u64,
}

impl Anchor {
    /// Now, to some tens of nanoseconds unless an interrupt falls between the clocks.
    pub fn quick() -> Self {
        let ticks = stamp::start();
        Self {
            ticks,
            raw_ns: clock::monotonic_raw_ns(),
        }
    }

    /// Now. The tightest of a few tries, so that an interrupt between the clocks does not matter.
    pub fn now() -> Self {
        let tries = (0..5).map(|_| {
            let anchor = Self::quick();
            let width = stamp::stop() - anchor.ticks;
            (
                width,
                Self {
                    ticks: anchor.ticks + width / 2,
                    ..anchor
                },
            )
        });
        tries
            .min_by_key(|(width, _)| *width)
            .map(|(_, anchor)| anchor)
            .expect("five tries")
    }

    /// Ticks per second between `self` and a later anchor.
    pub fn rate_to(self, later: Anchor) -> f64 {
        let ns = later.raw_ns.saturating_sub(self.raw_ns).max(1);
        later.ticks.wrapping_sub(self.ticks) as f64 * 1e9 / ns as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_long_enough_for_its_noise() {
        assert_eq!(SPAN * shortest_batch(0.0), SHORTEST_SPAN);
        let batch = shortest_batch(52.0);
        let span = 4.0 * batch - batch;
        assert!(52.0 * std::f64::consts::SQRT_2 <= 1.0001e-3 * span);
    }

    #[test]
    fn a_coarse_counter_is_as_noisy_as_its_step() {
        assert_eq!(step(&[26, 26, 52, 52]), 26);
        assert_eq!(step(&[26, 26]), 1);
    }

    #[test]
    fn the_rate_is_plausible_and_repeats() {
        let a = Anchor::now();
        std::thread::sleep(std::time::Duration::from_millis(20));
        let b = Anchor::now();
        let rate = a.rate_to(b);
        assert!((1e6..1e11).contains(&rate), "{rate}");
    }
}
