//! The machine's counter with an error in its rate: 100 ppm fast, then 100 ppm slow, and so on.
//!
//! A reading is a function of the counter alone, so all threads agree on it: `t + t_in_period * 10^-4` in the first
//! half of each period, and back down in the second.

use cyclewise::clock::{Reason, Source, System};

/// Ticks of half a period: 3.3 s at 2.6 GHz.
const HALF: u64 = 1 << 33;
/// The reciprocal of the rate's error: 100 ppm.
const SHARE: u64 = 10_000;

/// The machine's clock sources with such a counter.
pub(super) struct Skewed;

fn skew(ticks: u64) -> u64 {
    let place = ticks % (2 * HALF);
    ticks + place.min(2 * HALF - place) / SHARE
}

impl Source for Skewed {
    fn bare(&self) -> u64 {
        skew(System.bare())
    }

    fn load_ordered(&self) -> u64 {
        skew(System.load_ordered())
    }

    fn dependent_load(&self) -> u64 {
        skew(System.dependent_load())
    }

    fn bracketed(&self) -> u64 {
        skew(System.bracketed())
    }

    fn monotonic_ns(&self) -> u64 {
        System.monotonic_ns()
    }

    fn raw_ns(&self) -> u64 {
        System.raw_ns()
    }

    fn boottime_ns(&self) -> u64 {
        System.boottime_ns()
    }

    fn examine(&self) -> Result<(), Reason> {
        System.examine()
    }

    fn raise_floor(&self, ns: u64) -> u64 {
        System.raise_floor(ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_off_by_a_hundred_millionths_either_way() {
        let rate = |from: u64| (skew(from + 1_000_000_000) - skew(from)) as f64 / 1e9;
        assert!((rate(2 * HALF) - 1.0001).abs() < 1e-8);
        assert!((rate(3 * HALF) - 0.9999).abs() < 1e-8);
        assert!(skew(HALF - 1) <= skew(HALF) && skew(2 * HALF) <= skew(2 * HALF + 1));
    }
}
