//! Student's t as the tests use it: a two-sided p, a two-sided quantile, and an interval that stays finite.
//!
//! The distribution is from `statrs`. Its inverse is not used: in 0.18 it loses digits from 10⁴ degrees of freedom on
//! (1.95985 for 1.95997 at 10⁶) and for some values never returns. Newton's method on the distribution function, which
//! keeps eight digits there, is used instead.
//!
//! # References
//! - "Student", "The Probable Error of a Mean", Biometrika 6(1), 1908, pp. 1–25.
//! - W. H. Press et al., "Numerical Recipes", 3rd edition, 2007, section 9.4: Newton's method.

use statrs::distribution::{Continuous, ContinuousCDF, Normal, StudentsT};

/// The most Newton steps. In the far tail a step multiplies t by about 1 + 1/df, and
/// the farthest level a double can tell from 1 is some 40 to 55 such steps away; the rest refine.
const STEPS: usize = 80;

/// P(|T| ≥ |t|) with `df` degrees of freedom; 1 if the distribution does not exist.
pub(super) fn two_sided_p(t: f64, df: f64) -> f64 {
    StudentsT::new(0.0, 1.0, df).map_or(1.0, |d| (2.0 * d.sf(t.abs())).clamp(0.0, 1.0))
}

/// The t with P(|T| ≤ t) = `level`.
///
/// 0 for a level at or below 0; `f64::MAX` for one at or above 1, for NaN, and for a distribution that does not exist:
/// the cautious result is the wide one.
pub(super) fn quantile(level: f64, df: f64) -> f64 {
    if level <= 0.0 {
        return 0.0;
    }
    // NaN fails this comparison, and so yields the wide result too.
    if level < 1.0
        && let Ok(d) = StudentsT::new(0.0, 1.0, df)
    {
        let outside = 1.0 - level;
        // The normal quantile lies below t's, and the two-sided p is convex and falling beyond 0: Newton's steps
        // approach from below and never pass the root.
        let mut t = Normal::standard().inverse_cdf(outside / 2.0).abs();
        for _ in 0..STEPS {
            let step = (two_sided_p(t, df) - outside) / (2.0 * d.pdf(t));
            if !(step > 1e-13 * t && step.is_finite()) {
                break;
            }
            t += step;
        }
        return t.min(f64::MAX);
    }
    f64::MAX
}

/// `centre` ± `reach`, clamped to finite doubles.
pub(super) fn around(centre: f64, reach: f64) -> [f64; 2] {
    [
        (centre - reach).clamp(-f64::MAX, f64::MAX),
        (centre + reach).clamp(-f64::MAX, f64::MAX),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// df, quantiles of 0.95 and 0.99 two-sided, p at t = 1.96: SciPy 1.17's `stats.t`.
    const TABLE: [(f64, f64, f64, f64); 6] = [
        (1.0, 12.706204736174694, 63.656741162871526, 0.3003428917760331),
        (2.0, 4.302652729749462, 9.924843200918287, 0.18905730960173228),
        (3.5, 2.9400886379827282, 5.085702223091256, 0.1316225730127258),
        (17.776, 2.102821310380221, 2.8826598665420695, 0.06586399482048337),
        (598.0, 1.963938898055503, 2.584075717369727, 0.0504597792680588),
        (1e6, 1.959966356814107, 2.5758342201053344, 0.04999606758526985),
    ];

    #[test]
    fn agrees_with_an_independent_implementation() {
        for (df, q95, q99, p) in TABLE {
            assert!(
                (quantile(0.95, df) / q95 - 1.0).abs() < 1e-9,
                "{df}: {}",
                quantile(0.95, df)
            );
            assert!(
                (quantile(0.99, df) / q99 - 1.0).abs() < 1e-9,
                "{df}: {}",
                quantile(0.99, df)
            );
            assert!(
                (two_sided_p(1.96, df) / p - 1.0).abs() < 1e-9,
                "{df}: {}",
                two_sided_p(1.96, df)
            );
        }
    }

    #[test]
    fn the_quantile_is_the_inverse_of_p_everywhere() {
        for exponent in 0..=70 {
            let df = 10_f64.powf(f64::from(exponent) / 10.0);
            for level in [1e-9, 0.5, 0.8, 0.95, 0.99, 0.999999] {
                let p = two_sided_p(quantile(level, df), df);
                assert!((p / (1.0 - level) - 1.0).abs() < 1e-6, "{level} {df}: {p}");
            }
        }
        // tan(π/2 · level), to what 1 − level has left of its digits.
        assert!((quantile(1.0 - 1e-12, 1.0) / 6.366e11 - 1.0).abs() < 1e-3);
        assert!(quantile(1.0 - f64::EPSILON, 1.0).is_finite());
    }

    #[test]
    fn extremes_are_finite() {
        assert_eq!(two_sided_p(0.0, 5.0), 1.0);
        assert_eq!(two_sided_p(f64::MAX, 5.0), 0.0);
        assert_eq!(two_sided_p(1.0, 0.0), 1.0);
        assert_eq!(quantile(0.0, 5.0), 0.0);
        for level in [1.0, 2.0, f64::NAN] {
            assert_eq!(quantile(level, 5.0), f64::MAX);
        }
        assert_eq!(quantile(0.95, f64::NAN), f64::MAX);
        assert!(around(f64::MAX, f64::MAX).iter().all(|x| x.is_finite()));
    }
}
