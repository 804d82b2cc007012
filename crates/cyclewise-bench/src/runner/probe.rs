//! The probe beside each batch: how fast the core runs a loop that depends on nothing that is measured.
//!
//! Its time tells the state of whatever shares the core, mostly the other hardware thread, which a guest cannot see. It
//! never looks at a sample, and the sample's state follows from it alone, so nothing is chosen by its result.

use super::timer;
use crate::arch::{probe, stamp};

/// Iterations: some 0.5 to 1 µs, a few percent of a batch, and long beside the two stamps around it.
const ITERATIONS: u64 = 2048;

/// A probe lasts this many times the stamps' noise, so that a reading is good to some 3 %: a busy neighbour costs more.
const NOISES: f64 = 32.0;

/// The most doublings of [`ITERATIONS`], for counters that are coarse.
const DOUBLINGS: u32 = 3;

/// A probe whose length fits this machine's counter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Probe {
    iterations: u64,
}

impl Probe {
    /// A probe that is long enough beside `noise`, in ticks, of two stamps.
    pub(super) fn new(noise: f64) -> Self {
        let of = |iterations| Self { iterations };
        let lengths = (0..=DOUBLINGS).map(|n| of(ITERATIONS << n));
        let long_enough = |probe: &Self| {
            // The quickest of three: an interrupt makes a short one look long.
            let ticks = (0..3).map(|_| probe.ticks()).min().unwrap_or(0);
            ticks as f64 >= NOISES * noise
        };
        lengths.clone().find(long_enough).unwrap_or(of(ITERATIONS << DOUBLINGS))
    }

    /// For samples that have none beside their batches.
    pub(super) fn for_this_machine() -> Self {
        Self::new(timer::noise())
    }

    /// Ticks per iteration, with the stamps' own.
    pub(super) fn read(self) -> f64 {
        self.ticks() as f64 / self.iterations as f64
    }

    fn ticks(self) -> u64 {
        let start = stamp::start();
        probe::run(self.iterations);
        stamp::stop() - start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_counts_every_iteration() {
        // Taken in turn, so that a neighbour who comes or goes meets all of them.
        let mut quickest = [u64::MAX; 3];
        for _ in 0..200 {
            for (quickest, iterations) in quickest.iter_mut().zip([0, 1 << 14, 1 << 18]) {
                *quickest = Probe { iterations }.ticks().min(*quickest);
            }
        }
        let [none, short, long] = quickest;
        // Sixteen times as many; the twin would be a loop that ends at once.
        assert!(long > 4 * short && long < 64 * short, "{short} and {long} ticks");
        assert!(none < short, "at least one, and no more");
    }

    #[test]
    fn a_coarse_counter_gets_a_longer_probe() {
        assert_eq!(Probe::new(0.0).iterations, ITERATIONS);
        let coarse = Probe::new(1e12).iterations;
        assert_eq!(coarse, ITERATIONS << DOUBLINGS, "and never one without end");
    }

    #[test]
    fn a_reading_is_a_finite_cost() {
        let reading = Probe::for_this_machine().read();
        assert!(reading.is_finite() && reading > 0.0, "{reading}");
    }
}
