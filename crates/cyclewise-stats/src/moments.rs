//! A summary of samples: mean, spread, median, and the interval of the mean.
//!
//! Sums are taken of deviations, never of the samples themselves: first from the first sample, then from the mean.
//! A column of equal samples therefore has a spread of exactly zero, whatever its value, and timings of 10 000 000.1
//! and 10 000 000.3 keep all their digits.
//!
//! # References
//! - T. F. Chan, G. H. Golub, R. J. LeVeque, "Algorithms for Computing the Sample Variance: Analysis and
//!   Recommendations", The American Statistician 37(3), 1983, pp. 242–247: shifted data and the corrected two-pass
//!   formula (1.7).
//! - NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.5.2: confidence limits for the mean.

use super::student;

/// A summary of one column of samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// How many.
    pub n: usize,
    /// Arithmetic mean.
    pub mean: f64,
    /// Sample standard deviation (n − 1); 0 for one sample.
    pub sd: f64,
    /// Median; the middle of the two middle samples for an even count.
    pub median: f64,
    /// Smallest sample.
    pub min: f64,
    /// Largest sample.
    pub max: f64,
    /// 95 % confidence interval of the mean (Student's t); the mean twice for one sample.
    pub ci95: [f64; 2],
}

/// Describes `samples`; `None` if there are none, if one is not finite, or if their spread overflows.
pub fn describe(samples: &[f64]) -> Option<Summary> {
    let moments = Moments::of_samples(samples)?;
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.len() / 2;
    let upper = sorted[half]; // At least one sample, or there were no moments.
    let median = if sorted.len() % 2 == 1 {
        upper
    } else {
        sorted[half - 1].midpoint(upper)
    };
    let reach = half_width(samples, 0.95).unwrap_or(0.0);
    Some(Summary {
        n: moments.n,
        mean: moments.mean,
        sd: moments.variance.sqrt(),
        median,
        min: sorted[0],
        max: sorted[sorted.len() - 1],
        ci95: student::around(moments.mean, reach),
    })
}

/// Half the width of the confidence interval of the mean at `level` (0.95 for 95 %), by Student's t.
///
/// `None` for fewer than two samples, for a sample that is not finite, and for a level outside (0, 1).
pub fn half_width(samples: &[f64], level: f64) -> Option<f64> {
    let moments = Moments::of_samples(samples)?;
    if moments.n < 2 || !(level > 0.0 && level < 1.0) {
        return None;
    }
    let reach = student::quantile(level, moments.n as f64 - 1.0) * moments.variance_of_mean().sqrt();
    reach.is_finite().then_some(reach)
}

/// Count, mean and variance: all that the tests on means need of a column.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moments {
    /// How many; at least one.
    pub(super) n: usize,
    /// Arithmetic mean.
    pub(super) mean: f64,
    /// Sample variance (n − 1); 0 for one sample.
    pub(super) variance: f64,
}

impl Moments {
    /// The moments of `samples`, or `None` if there are none or they are not finite.
    pub(super) fn of_samples(samples: &[f64]) -> Option<Self> {
        let (&first, n) = (samples.first()?, samples.len());
        let shift = samples.iter().map(|x| x - first).sum::<f64>() / n as f64;
        let rough = first + shift;
        let (mut sum, mut squares) = (0.0, 0.0);
        for x in samples {
            let d = x - rough;
            sum += d;
            squares += d * d;
        }
        let mean = rough + sum / n as f64;
        // The second term is zero in exact arithmetic; what remains is the rounding of `rough`.
        let variance = match n {
            1 => 0.0,
            _ => ((squares - sum * sum / n as f64) / (n as f64 - 1.0)).max(0.0),
        };
        // A sample that is not finite reaches both sums, so this one check covers input and overflow.
        // `max` above would hide a NaN, hence `squares`.
        (mean.is_finite() && squares.is_finite() && variance.is_finite()).then_some(Self { n, mean, variance })
    }

    /// Variance of the mean: the square of its standard error.
    pub(super) fn variance_of_mean(self) -> f64 {
        self.variance / self.n as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_and_nonsense_have_no_summary() {
        assert_eq!(describe(&[]), None);
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(describe(&[bad]), None);
            assert_eq!(describe(&[1.0, bad, 2.0]), None);
            assert_eq!(half_width(&[1.0, bad], 0.95), None);
        }
        assert_eq!(describe(&[f64::MAX, -f64::MAX]), None, "the spread overflows");
    }

    #[test]
    fn one_sample_is_its_own_interval() {
        let s = describe(&[3.5]).unwrap();
        assert_eq!(
            (s.n, s.mean, s.sd, s.median, s.min, s.max),
            (1, 3.5, 0.0, 3.5, 3.5, 3.5)
        );
        assert_eq!(s.ci95, [3.5, 3.5]);
        assert_eq!(half_width(&[3.5], 0.95), None);
    }

    #[test]
    fn equal_samples_have_no_spread_at_all() {
        for x in [0.1, 1.0 / 3.0, 1e300, -7e-300] {
            let s = describe(&[x; 21]).unwrap();
            assert_eq!((s.mean, s.sd, s.median), (x, 0.0, x));
        }
    }

    #[test]
    fn an_even_count_has_its_median_between_two_samples() {
        assert_eq!(describe(&[4.0, 1.0, 3.0, 2.0]).unwrap().median, 2.5);
        assert_eq!(describe(&[4.0, 1.0, 3.0]).unwrap().median, 3.0);
    }

    #[test]
    fn a_level_outside_zero_and_one_has_no_width() {
        for level in [0.0, 1.0, -1.0, 2.0, f64::NAN] {
            assert_eq!(half_width(&[1.0, 2.0], level), None);
        }
    }
}
