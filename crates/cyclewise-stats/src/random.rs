//! Seeded samples shaped like timings.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// The mean of every source here, so that a standard deviation of 1.5 reads as 1.5 %.
pub const MEAN: f64 = 100.0;

/// The spread of a quiet machine's timings.
pub const SD: f64 = 1.5;

/// `n` samples, each from `one`.
pub fn column(n: usize, mut one: impl FnMut() -> f64) -> Vec<f64> {
    (0..n).map(|_| one()).collect()
}

/// A seeded source of samples.
pub struct Source(Xoshiro256PlusPlus);

impl Source {
    /// From a seed.
    pub fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// Uniform, above 0 and below 1.
    pub fn even(&mut self) -> f64 {
        ((self.0.next_u64() >> 12) as f64 + 0.5) / (1_u64 << 52) as f64
    }

    /// A standard normal deviate (G. E. P. Box, M. E. Muller, 1958).
    pub fn normal(&mut self) -> f64 {
        (-2.0 * self.even().ln()).sqrt() * (std::f64::consts::TAU * self.even()).cos()
    }

    /// One Gaussian timing.
    pub fn gaussian(&mut self, sd: f64) -> f64 {
        MEAN + sd * self.normal()
    }

    /// One timing with occasional interrupts: one in twenty is longer by 10 sd on average.
    pub fn spiky(&mut self, sd: f64) -> f64 {
        let spike = if self.even() < 0.05 {
            -10.0 * sd * self.even().ln()
        } else {
            0.0
        };
        self.gaussian(sd) + spike
    }
}
