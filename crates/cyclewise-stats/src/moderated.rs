//! What the spread of other groups says about a group's own: a prior for its variance.
//!
//! The spread of a group of 1000 machines is known to 2 %, by which a machine at 5 standard deviations seems to be at 4.9 or 5.1: a p
//! that is wrong by a factor of 1.7. That of a group of ten is known to 24 %. Twenty groups whose spreads are alike know theirs much
//! better together. How alike they are, the groups show: their variances vary as s₀² F(d, d₀) where the true ones are drawn from a
//! scaled inverse chi-squared distribution with d₀ degrees of freedom around s₀². Both are estimated from the mean and the variance
//! of ln s²; each group's variance is then the mean of its own and s₀², weighted by d and d₀, and it has d + d₀ degrees of
//! freedom. Groups of different spreads give a small d₀, and change each other little.
//!
//! One wide group among many narrow ones does not make d₀ small, and its ordinary machines would be measured by the others'
//! spread. So a variance is made smaller by no more than [`MOST_LESS`]: a group that is wider than that keeps its own.
//!
//! # References
//! G. K. Smyth, "Linear Models and Empirical Bayes Methods for Assessing Differential Expression in Microarray Experiments",
//! Statistical Applications in Genetics and Molecular Biology 3(1), 2004, section 6.2: the estimators.

use statrs::function::gamma::digamma;

/// The fewest groups that a prior is estimated from.
const FEWEST: usize = 3;

/// The most that a variance is made smaller by: five standard errors of a group of 1000, and little for one of ten.
const MOST_LESS: f64 = 1.25;

/// Degrees of freedom of a prior of groups that are all alike.
const MOST: f64 = 1e6;

/// What is known of a variance before its own group is looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prior {
    /// The variance.
    pub variance: f64,
    /// The degrees of freedom that it is worth.
    pub df: f64,
}

impl Prior {
    /// From the variances of groups and their degrees of freedom. `None` for fewer than three groups.
    pub fn of_groups(groups: &[(f64, f64)]) -> Option<Self> {
        let known = groups.iter().filter(|(variance, df)| *variance > 0.0 && *df >= 1.0);
        let logs: Vec<(f64, f64)> = known
            .map(|&(variance, df)| (variance.ln() - digamma(df / 2.0) + (df / 2.0).ln(), trigamma(df / 2.0)))
            .collect();
        if logs.len() < FEWEST {
            return None;
        }
        let n = logs.len() as f64;
        let mean = logs.iter().map(|log| log.0).sum::<f64>() / n;
        let by_chance = logs.iter().map(|log| log.1).sum::<f64>() / n;
        let seen = logs.iter().map(|log| (log.0 - mean).powi(2)).sum::<f64>() / (n - 1.0);
        // trigamma(d₀/2) is the variance of the true logarithms.
        let df = 2.0 * inverse_trigamma(seen - by_chance);
        Some(Self {
            variance: (mean + digamma(df / 2.0) - (df / 2.0).ln()).exp(),
            df,
        })
    }

    /// The variance of a group that has `variance` with `df` degrees of freedom of its own, and the degrees of freedom of both;
    /// its own, if both are much less.
    pub fn with(&self, variance: f64, df: f64) -> (f64, f64) {
        let both = (self.variance * self.df + variance * df) / (self.df + df);
        if both * MOST_LESS < variance {
            (variance, df)
        } else {
            (both, self.df + df)
        }
    }
}

/// The derivative of digamma (Abramowitz and Stegun, "Handbook of Mathematical Functions", 1964, 6.4.6 and 6.4.12).
fn trigamma(mut x: f64) -> f64 {
    let mut sum = 0.0;
    while x < 10.0 {
        sum += 1.0 / (x * x);
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    sum + 1.0 / x + square / 2.0 + square / x * (1.0 / 6.0 - square * (1.0 / 30.0 - square / 42.0))
}

/// Where trigamma, which falls, has this value; the most degrees of freedom for a value at or below 0.
fn inverse_trigamma(value: f64) -> f64 {
    let (mut low, mut high) = (1e-3_f64, MOST / 2.0);
    if value <= trigamma(high) {
        return high;
    }
    for _ in 0..100 {
        let middle = (low * high).sqrt();
        *(if trigamma(middle) > value { &mut low } else { &mut high }) = middle;
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Source;

    #[test]
    fn trigamma_has_its_known_values() {
        let pi = std::f64::consts::PI;
        for (x, known) in [(1.0, pi * pi / 6.0), (0.5, pi * pi / 2.0), (2.0, pi * pi / 6.0 - 1.0)] {
            assert!((trigamma(x) / known - 1.0).abs() < 1e-9, "{x}");
            assert!((inverse_trigamma(known) / x - 1.0).abs() < 1e-9, "{x}");
        }
        assert_eq!(inverse_trigamma(-1.0), MOST / 2.0);
    }

    /// Variances of `n` groups with ten degrees of freedom, whose true ones are of chi-squared with `df`, or all 4.
    fn groups(n: usize, df: Option<usize>, s: &mut Source) -> Vec<(f64, f64)> {
        let mut chi2 = |df: usize| (0..df).map(|_| s.normal().powi(2)).sum::<f64>() / df as f64;
        (0..n)
            .map(|_| (4.0 / df.map_or(1.0, &mut chi2) * chi2(10), 10.0))
            .collect()
    }

    #[test]
    fn the_prior_that_groups_were_drawn_from_is_found() {
        let mut s = Source::new(1);
        let prior = Prior::of_groups(&groups(3000, Some(8), &mut s)).unwrap();
        assert!(
            (prior.df / 8.0 - 1.0).abs() < 0.2 && (prior.variance / 4.0 - 1.0).abs() < 0.05,
            "{prior:?}"
        );
        let alike = Prior::of_groups(&groups(300, None, &mut s)).unwrap();
        assert!(alike.df > 60.0 && (alike.variance / 4.0 - 1.0).abs() < 0.1, "{alike:?}");
        assert_eq!(Prior::of_groups(&[(1.0, 5.0), (1.0, 5.0), (0.0, 5.0)]), None);
    }

    #[test]
    fn one_wide_group_among_many_keeps_its_own_and_a_narrow_one_is_widened() {
        let prior = Prior {
            variance: 1.0,
            df: 50.0,
        };
        assert_eq!(prior.with(25.0, 3.0), (25.0, 3.0));
        assert_eq!(prior.with(1.1, 900.0).1, 950.0);
        assert!(prior.with(0.04, 3.0).0 > 0.9);
    }

    #[test]
    fn groups_of_different_spread_keep_their_own() {
        let prior = Prior::of_groups(&[(1e-4, 50.0), (1e-2, 50.0), (1.0, 50.0)]).unwrap();
        let (variance, df) = prior.with(1e-2, 50.0);
        assert!(
            (variance / 1e-2 - 1.0).abs() < 0.2 && df < 53.0,
            "{prior:?} {variance} {df}"
        );
    }
}
