//! Whether throughput is stationary: the warm-up is over, and the window is long enough for its mean.
//!
//! # Procedure
//! A run has windows of operations. The first begins after a short warm-up, and each later one begins where the last ended and is
//! twice as long, so that a transient of any length ends within a few windows. A window is divided into batches of equal numbers of
//! operations; the series is their times. It is stationary if
//! 1. the truncation that minimizes the MSER statistic is in the first half, and what it cuts off does not matter: the mean of what is
//!    left is the mean of all, to 1 % or 2.6 standard errors,
//! 2. its first fifth and its last half have the same mean: Geweke's z is within ±2.6, or the means differ by at most 1 %,
//! 3. the standard error of its mean is at most 2 %.
//!
//! The first finds a transient, the second a drift, such as that of a queue whose order is mixed slowly; it is compared over a window
//! as long as the run before it. The third keeps short windows from passing by their noise.
//!
//! # References
//! K. P. White, "An effective truncation heuristic for bias reduction in simulation output", Simulation 69, 1997 (MSER; MSER-5 has
//! batches of five observations, here their number is fixed instead). J. Geweke, "Evaluating the accuracy of sampling-based approaches
//! to the calculation of posterior moments", 1992.
//!
//! # Limits
//! A system with two stable regimes is stationary in each: no test within a run can tell. Runs from different starts can.

/// Batches of a window.
pub(super) const BATCHES: usize = 40;

/// The largest |z| that equal means have, but for 1 in 100 runs.
const MOST_Z: f64 = 2.6;
/// The largest difference of means that does not matter, relative.
const MOST_DIFFERENCE: f64 = 0.01;
/// The largest standard error of the mean, relative.
const MOST_ERROR: f64 = 0.02;

/// Whether a series of batch times is stationary, and its mean known.
pub(super) fn is_stationary(series: &[f64]) -> bool {
    !has_transient(series) && !drifts(series) && relative_error(series) <= MOST_ERROR
}

fn has_transient(series: &[f64]) -> bool {
    let cut = mser(series);
    let ((all, _), (left, variance)) = (mean(series), mean(&series[cut..]));
    let difference = (all - left).abs();
    cut > series.len() / 2 || difference > MOST_DIFFERENCE * left && difference > MOST_Z * variance.sqrt()
}

/// Mean, and the variance of the mean if the values were independent.
fn mean(series: &[f64]) -> (f64, f64) {
    let count = series.len() as f64;
    let mean = series.iter().sum::<f64>() / count;
    let squares: f64 = series.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, squares / (count - 1.0).max(1.0) / count)
}

/// The number of leading values whose truncation minimizes the MSER statistic. At least five values are kept.
fn mser(series: &[f64]) -> usize {
    // The variance of the mean of what is left is its statistic, but for a factor n / (n - 1).
    let statistic = |cut: usize| mean(&series[cut..]).1;
    let last = series.len().saturating_sub(5);
    (0..=last)
        .min_by(|&a, &b| statistic(a).total_cmp(&statistic(b)))
        .unwrap_or(0)
}

/// Whether the means of the first fifth and of the last half differ.
fn drifts(series: &[f64]) -> bool {
    let (first, first_variance) = mean(&series[..series.len() / 5]);
    let (last, last_variance) = mean(&series[series.len() / 2..]);
    let difference = (first - last).abs();
    difference > MOST_DIFFERENCE * last && difference > MOST_Z * (first_variance + last_variance).sqrt()
}

fn relative_error(series: &[f64]) -> f64 {
    let (mean, variance) = mean(series);
    if mean > 0.0 { variance.sqrt() / mean } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::super::random::Random;
    use super::*;

    /// Batch times around a trend, with uniform noise of this relative width.
    fn series(seed: u64, noise: f64, trend: impl Fn(f64) -> f64) -> Vec<f64> {
        let mut random = Random::new(seed);
        let value = |at: usize| {
            let share = at as f64 / BATCHES as f64;
            let uniform = random.below(1_000_000) as f64 / 1e6 - 0.5;
            100.0 * trend(share) * (1.0 + noise * uniform)
        };
        (0..BATCHES).map(value).collect()
    }

    fn accepted(noise: f64, trend: impl Fn(f64) -> f64 + Copy) -> usize {
        (0..100)
            .filter(|&seed| is_stationary(&series(seed, noise, trend)))
            .count()
    }

    #[test]
    fn a_level_series_is_stationary() {
        assert_eq!(accepted(0.0, |_| 1.0), 100);
        assert!(accepted(0.1, |_| 1.0) >= 95, "{}", accepted(0.1, |_| 1.0));
    }

    #[test]
    fn a_drift_is_refused() {
        // Twice the noise over the window.
        assert_eq!(accepted(0.1, |at| 1.0 + 0.2 * at), 0);
        // A slow decay, as of a queue that is mixed.
        assert_eq!(accepted(0.05, |at| 1.0 + 0.3 * (-2.0 * at).exp()), 0);
        assert_eq!(accepted(0.0, |at| 1.0 + 0.05 * at), 0);
    }

    #[test]
    fn a_step_is_refused_wherever_it_is() {
        for step in [0.1, 0.3, 0.5, 0.7, 0.9] {
            let found = accepted(0.1, |at| if at < step { 1.0 } else { 1.5 });
            assert!(found <= 2, "{step}: {found}");
        }
    }

    #[test]
    fn noise_that_hides_the_mean_is_refused() {
        assert_eq!(accepted(1.5, |_| 1.0), 0);
    }

    #[test]
    fn the_truncation_is_where_a_transient_ends() {
        let cut = mser(&series(1, 0.05, |at| if at < 0.25 { 2.0 } else { 1.0 }));
        assert!((10..=13).contains(&cut), "{cut}");
        assert_eq!(mser(&[]), 0);
    }
}
