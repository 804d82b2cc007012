//! How small a difference these samples can show, and how many samples a given precision takes.
//!
//! # References
//! - H. S. Bloom, "Minimum Detectable Effects: A Simple Way to Report the Statistical Power of Experimental Designs",
//!   Evaluation Review 19(5), 1995, pp. 547–556: the sum of two quantiles times the standard error.
//! - NIST/SEMATECH e-Handbook of Statistical Methods, 7.2.2.2: the sample size for an interval of a given width.

use super::student;
use super::ttest::welch;
use super::verdict::ALPHA;
use statrs::distribution::{ContinuousCDF, Normal};

/// How often the smallest detectable difference must be found: nine times of ten, as the A/B tools promise.
const POWER: f64 = 0.9;

/// The smallest true difference that Welch's test at 0.05 finds nine times of ten, in the samples' unit.
///
/// (t(0.975) + t(0.9)) standard errors. The exact answer takes the noncentral t; with four samples a side or more of one
/// spread, this has the promised power within half a percentage point. 0 where neither side has any spread; `None` as
/// for [`welch`].
pub fn smallest_detectable(a: &[f64], b: &[f64]) -> Option<f64> {
    let test = welch(a, b)?;
    // `quantile` is two-sided: its level 2 · 0.9 − 1 leaves 0.1 in the upper tail.
    let quantiles = student::quantile(1.0 - ALPHA, test.df) + student::quantile(2.0 * POWER - 1.0, test.df);
    let difference = quantiles * test.se;
    difference.is_finite().then_some(difference)
}

/// How many samples bring the 95 % interval of the mean to ± `target` · `mean`, given their spread.
///
/// (z · sd / (target · mean))², rounded up, by the normal approximation; at least 2, since fewer have no interval.
/// `usize::MAX` where no number does: a mean or a target of 0, a negative target, or a figure that is not a number.
pub fn samples_needed(sd: f64, mean: f64, target: f64) -> usize {
    let reach = target * mean.abs();
    if !(reach > 0.0 && sd >= 0.0) {
        return usize::MAX;
    }
    let root = Normal::standard().inverse_cdf(1.0 - ALPHA / 2.0) * (sd / reach);
    // `as` saturates, and an infinite spread over an infinite reach is NaN, which it would take for 0.
    let n = (root * root).ceil();
    if n.is_nan() { usize::MAX } else { (n as usize).max(2) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_for_a_width() {
        // (1.959964 · 1.5 / 0.1)² = 864.3.
        assert_eq!(samples_needed(1.5, 100.0, 0.001), 865);
        assert_eq!(samples_needed(1.5, -100.0, 0.001), 865);
        assert_eq!(samples_needed(0.0, 100.0, 0.01), 2);
        assert_eq!(samples_needed(1e-9, 100.0, 0.5), 2);
    }

    #[test]
    fn no_count_is_enough() {
        for (sd, mean, target) in [
            (1.0, 0.0, 0.01),
            (1.0, 1.0, 0.0),
            (1.0, 1.0, -0.1),
            (f64::NAN, 1.0, 0.1),
            (1.0, f64::NAN, 0.1),
            (1.0, 1.0, f64::NAN),
            (f64::INFINITY, f64::INFINITY, 0.1),
            (f64::MAX, 1e-300, 1e-8),
        ] {
            assert_eq!(samples_needed(sd, mean, target), usize::MAX, "{sd} {mean} {target}");
        }
    }

    #[test]
    fn no_spread_detects_anything() {
        assert_eq!(smallest_detectable(&[1.0; 3], &[2.0; 3]), Some(0.0));
        assert_eq!(smallest_detectable(&[1.0], &[2.0; 3]), None);
    }
}
