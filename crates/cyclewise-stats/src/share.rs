//! The exact interval of a binomial proportion.
//!
//! # References
//! C. J. Clopper, E. S. Pearson, "The use of confidence or fiducial limits illustrated in the case of the binomial",
//! Biometrika 26 (1934), 404–413. The bounds are quantiles of beta distributions.

use statrs::distribution::{Beta, ContinuousCDF};

/// Halvings of [0, 1]: beyond the digits of a double.
const HALVINGS: u32 = 60;

/// The `level` interval of the true share, when `events` of `tries` happened. [0, 1] for no tries.
pub fn share_interval(events: usize, tries: usize, level: f64) -> [f64; 2] {
    let events = events.min(tries);
    let tail = (1.0 - level.clamp(0.0, 1.0)) / 2.0;
    let (k, n) = (events as f64, tries as f64);
    let low = if events == 0 {
        0.0
    } else {
        quantile(k, n - k + 1.0, tail)
    };
    let high = if events == tries {
        1.0
    } else {
        quantile(k + 1.0, n - k, 1.0 - tail)
    };
    [low, high]
}

/// The `p` quantile of Beta(a, b), by halving: its distribution function is monotone, and halving always ends.
fn quantile(a: f64, b: f64, p: f64) -> f64 {
    let Ok(beta) = Beta::new(a, b) else { return f64::NAN };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = (low + high) / 2.0;
        if beta.cdf(middle) < p {
            low = middle
        } else {
            high = middle
        }
    }
    (low + high) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bounds_are_those_of_the_tables() {
        // R: binom.test(5, 20)$conf.int, binom.test(0, 10)$conf.int.
        let [low, high] = share_interval(5, 20, 0.95);
        assert!(
            (low - 0.086_571_5).abs() < 1e-6 && (high - 0.491_046_0).abs() < 1e-6,
            "{low} {high}"
        );
        let [low, high] = share_interval(0, 10, 0.95);
        assert!(low == 0.0 && (high - 0.308_497_1).abs() < 1e-6, "{high}");
    }

    #[test]
    fn no_tries_say_nothing() {
        assert_eq!(share_interval(0, 0, 0.99), [0.0, 1.0]);
    }

    #[test]
    fn the_bounds_mirror() {
        let [low, high] = share_interval(3, 17, 0.9);
        let [other_low, other_high] = share_interval(14, 17, 0.9);
        assert!((low - (1.0 - other_high)).abs() < 1e-12 && (high - (1.0 - other_low)).abs() < 1e-12);
    }
}
