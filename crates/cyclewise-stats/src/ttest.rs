//! Whether two means differ: Welch's t-test, and the pooled one it replaces.
//!
//! Comparisons use Welch's form, because two variants of an operation rarely have the same spread and the pooled test
//! is wrong if the counts differ too. The pooled form is here because published figures use it.
//!
//! # No spread on either side
//! A timer with coarse steps can return equal samples. The standard error is then 0 and t is 0/0 or x/0. For equal
//! means t = 0 and p = 1; for different ones t = ±`f64::MAX` and p = 0, the limit as the spread goes to 0, kept finite.
//! The degrees of freedom are the pooled ones in both cases.
//!
//! # References
//! - B. L. Welch, "The Generalization of 'Student's' Problem when Several Different Population Variances are
//!   Involved", Biometrika 34(1–2), 1947, pp. 28–35.
//! - F. E. Satterthwaite, "An Approximate Distribution of Estimates of Variance Components", Biometrics Bulletin 2(6),
//!   1946, pp. 110–114: the degrees of freedom.
//! - NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.5.3: both forms side by side.

use super::moments::Moments;
use super::student;

/// The result of a t-test of mean(a) − mean(b).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TTest {
    /// mean(a) − mean(b).
    pub difference: f64,
    /// Standard error of the difference.
    pub se: f64,
    /// Student's t.
    pub t: f64,
    /// Degrees of freedom.
    pub df: f64,
    /// Two-sided p.
    pub p: f64,
    /// 95 % confidence interval of the difference.
    pub ci95: [f64; 2],
}

impl TTest {
    /// Confidence interval of the difference at `level` (0.99 for 99 %).
    ///
    /// A level at or below 0 returns the difference twice; one at or above 1, or NaN, returns all finite numbers.
    pub fn ci(&self, level: f64) -> [f64; 2] {
        student::around(self.difference, student::quantile(level, self.df) * self.se)
    }

    fn new(difference: f64, variance: f64, df: f64) -> Option<Self> {
        let se = variance.sqrt();
        if !(difference.is_finite() && se.is_finite() && df.is_finite()) {
            return None;
        }
        let t = if difference == 0.0 {
            0.0
        } else {
            // x/0 is an infinity of the right sign, which the clamp makes finite.
            (difference / se).clamp(-f64::MAX, f64::MAX)
        };
        let p = student::two_sided_p(t, df);
        let mut test = Self {
            difference,
            se,
            t,
            df,
            p,
            ci95: [difference; 2],
        };
        test.ci95 = test.ci(0.95);
        Some(test)
    }
}

/// Welch's t-test of mean(a) − mean(b), with Satterthwaite's degrees of freedom.
///
/// `None` for fewer than two samples on a side, or a sample that is not finite.
pub fn welch(a: &[f64], b: &[f64]) -> Option<TTest> {
    let (a, b) = two_or_more(a, b)?;
    let (va, vb) = (a.variance_of_mean(), b.variance_of_mean());
    let variance = va + vb;
    // Satterthwaite's ratio (va + vb)² / (va²/(na−1) + vb²/(nb−1)), written with shares of the whole so that the squares
    // of very small or very large variances neither vanish nor overflow.
    let df = if variance > 0.0 {
        let (share_a, share_b) = (va / variance, vb / variance);
        1.0 / (share_a * share_a / (a.n as f64 - 1.0) + share_b * share_b / (b.n as f64 - 1.0))
    } else {
        (a.n + b.n - 2) as f64
    };
    TTest::new(a.mean - b.mean, variance, df)
}

/// Student's t-test of mean(a) − mean(b), which assumes equal spreads.
///
/// `None` for fewer than two samples on a side, or a sample that is not finite.
#[cfg(test)]
pub(super) fn pooled(a: &[f64], b: &[f64]) -> Option<TTest> {
    let (a, b) = two_or_more(a, b)?;
    let df = (a.n + b.n - 2) as f64;
    let (weight_a, weight_b) = ((a.n as f64 - 1.0) / df, (b.n as f64 - 1.0) / df);
    let variance = a.variance * weight_a + b.variance * weight_b;
    TTest::new(a.mean - b.mean, variance / a.n as f64 + variance / b.n as f64, df)
}

fn two_or_more(a: &[f64], b: &[f64]) -> Option<(Moments, Moments)> {
    let (a, b) = (Moments::of_samples(a)?, Moments::of_samples(b)?);
    (a.n >= 2 && b.n >= 2).then_some((a, b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_sample_or_nonsense_has_no_test() {
        for test in [welch, pooled] {
            assert_eq!(test(&[1.0], &[1.0, 2.0]), None);
            assert_eq!(test(&[1.0, 2.0], &[]), None);
            assert_eq!(test(&[1.0, f64::NAN], &[1.0, 2.0]), None);
            assert_eq!(test(&[1.0, 2.0], &[f64::INFINITY, 2.0]), None);
        }
    }

    #[test]
    fn no_spread_stays_finite() {
        for test in [welch, pooled] {
            let same = test(&[0.1; 5], &[0.1; 4]).unwrap();
            assert_eq!((same.t, same.p, same.df, same.ci95), (0.0, 1.0, 7.0, [0.0, 0.0]));
            let less = test(&[1.0; 5], &[2.0; 5]).unwrap();
            assert_eq!((less.t, less.p, less.ci95), (-f64::MAX, 0.0, [-1.0, -1.0]));
            assert_eq!(test(&[2.0; 5], &[1.0; 5]).unwrap().t, f64::MAX);
        }
    }

    #[test]
    fn spread_on_one_side_has_that_sides_degrees_of_freedom() {
        let t = welch(&[1.0, 2.0, 3.0, 4.0], &[2.0; 9]).unwrap();
        assert!((t.df - 3.0).abs() < 1e-12);
    }

    #[test]
    fn an_odd_level_is_answered_with_care() {
        let t = welch(&[1.0, 2.0], &[3.0, 5.0]).unwrap();
        assert_eq!(t.ci(0.0), [t.difference; 2]);
        for level in [1.0, f64::NAN] {
            assert_eq!(t.ci(level), [-f64::MAX, f64::MAX]);
        }
        assert_eq!(t.ci(0.95), t.ci95);
    }
}
