//! How many independent rounds a series of dependent rounds is worth.
//!
//! The states of a machine last longer than a round, so one round's difference resembles the next's, and n rounds know less
//! than n independent ones. The variance of a median depends on whether values lie above or below it, and not on how far:
//! what counts is the autocorrelation of those signs. With τ = 1 + 2 Σ ρ(k) of the signs, n rounds are worth n / τ.
//!
//! # Where the sum ends
//! Far lags are noise, and their sum does not converge. Geyer's rule for chains: sums of neighbouring pairs
//! ρ(2m) + ρ(2m+1) are positive and fall with m in theory, so the sum ends at the first pair that is not positive, and a
//! pair counts for no more than the one before it. τ is never taken below 1: no series is worth more than its length.
//!
//! # Few rounds
//! The standard error of an autocorrelation is about 1/√n. Of fewer than [`FEW`] rounds, half would lose a third of their
//! number to noise alone, so there a series counts as dependent only if the correlation with the next round
//! is beyond the one-sided 5 % bound of independent rounds (Bartlett).
//!
//! # Reproducibility
//! Products of signs are integers, and their sums exact; what follows is IEEE 754 arithmetic: the same on every machine.
//!
//! # References
//! - C. J. Geyer, "Practical Markov Chain Monte Carlo", Statistical Science 7(4), 1992, section 3.3: the initial monotone
//!   sequence.
//! - M. S. Bartlett, "On the Theoretical Specification and Sampling Properties of Autocorrelated Time-Series", Supplement
//!   to the Journal of the Royal Statistical Society 8(1), 1946: the standard error.

/// Fewer rounds than these have no autocorrelation that can be estimated: its standard error is above 0.14.
const FEW: usize = 50;

/// The one-sided 5 % quantile of the normal distribution.
const ONE_SIDED: f64 = 1.645;

/// The dependence of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dependence {
    /// The number of independent values that would know as much about the median.
    pub effective_n: f64,
    /// Correlation of a sign with the next one's; `None` if there are fewer than three or all are equal.
    pub autocorrelation: Option<f64>,
}

/// The dependence of a series from the signs of its values about the median (−1, 0, 1), in the order of the rounds.
pub(super) fn of_signs(signs: &[i8]) -> Dependence {
    let n = signs.len();
    let series = Series::new(signs);
    if n < 3 || series.covariance(0) <= 0.0 {
        return Dependence {
            effective_n: n as f64,
            autocorrelation: None,
        };
    }
    let next = series.correlation(1);
    let unproven = n < FEW && next * (n as f64).sqrt() <= ONE_SIDED;
    let inflation = if unproven { 1.0 } else { series.inflation() };
    Dependence {
        effective_n: n as f64 / inflation,
        autocorrelation: Some(next),
    }
}

struct Series<'a> {
    signs: &'a [i8],
    mean: f64,
}

impl<'a> Series<'a> {
    fn new(signs: &'a [i8]) -> Self {
        let sum: i64 = signs.iter().map(|&s| i64::from(s)).sum();
        Self {
            signs,
            mean: sum as f64 / signs.len().max(1) as f64,
        }
    }

    /// n times the autocovariance at `lag`.
    fn covariance(&self, lag: usize) -> f64 {
        let (early, late) = (&self.signs[..self.signs.len() - lag], &self.signs[lag..]);
        let sum = |signs: &[i8]| signs.iter().map(|&s| i64::from(s)).sum::<i64>() as f64;
        let products: i64 = early.iter().zip(late).map(|(&a, &b)| i64::from(a) * i64::from(b)).sum();
        products as f64 - self.mean * (sum(early) + sum(late)) + early.len() as f64 * self.mean * self.mean
    }

    fn correlation(&self, lag: usize) -> f64 {
        self.covariance(lag) / self.covariance(0)
    }

    /// 1 + 2 Σ ρ(k), at least 1.
    fn inflation(&self) -> f64 {
        let (mut sum, mut last) = (0.0, f64::INFINITY);
        for even in (0..self.signs.len() / 2).step_by(2) {
            let pair = self.correlation(even) + self.correlation(even + 1);
            if pair.is_nan() || pair <= 0.0 {
                break;
            }
            last = last.min(pair);
            sum += last;
        }
        (2.0 * sum - 1.0).max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Source;

    /// Signs that keep the last one's value with probability (1 + ρ) / 2: their autocorrelation at lag k is ρ^k.
    fn chain(n: usize, rho: f64, seed: u64) -> Vec<i8> {
        let mut source = Source::new(seed);
        let mut sign = 1;
        (0..n)
            .map(|_| {
                if source.even() > (1.0 + rho) / 2.0 {
                    sign = -sign;
                }
                sign
            })
            .collect()
    }

    #[test]
    fn a_chain_of_known_correlation_is_worth_what_theory_says() {
        // τ of an AR(1) is (1 + ρ) / (1 − ρ).
        for rho in [0.0, 0.3, 0.6, 0.8] {
            let d = of_signs(&chain(20_000, rho, 5));
            let expected = (1.0 - rho) / (1.0 + rho) * 20_000.0;
            let share = d.effective_n / expected;
            assert!((0.8..1.2).contains(&share), "{rho}: {share}");
            assert!((d.autocorrelation.unwrap() - rho).abs() < 0.03, "{rho}: {d:?}");
        }
    }

    #[test]
    fn no_series_is_worth_more_than_its_length() {
        let alternating: Vec<i8> = (0..100).map(|i| if i % 2 == 0 { 1 } else { -1 }).collect();
        assert_eq!(of_signs(&alternating).effective_n, 100.0);
    }

    #[test]
    fn few_rounds_lose_nothing_to_noise_but_are_not_all_believed() {
        let counted: Vec<f64> = (0..200)
            .map(|seed| of_signs(&chain(12, 0.0, seed)).effective_n)
            .collect();
        let whole = counted.iter().filter(|n| **n == 12.0).count();
        assert!(whole > 170, "{whole} of 200 independent series of 12 keep their number");
        // The twin: two halves, one above and one below.
        let halves: Vec<i8> = (0..12).map(|i| if i < 6 { 1 } else { -1 }).collect();
        assert!(of_signs(&halves).effective_n < 5.0);
    }

    #[test]
    fn equal_signs_and_few_of_them_have_no_correlation() {
        for signs in [&[][..], &[1], &[1, -1], &[0; 9], &[1; 9]] {
            let d = of_signs(signs);
            assert_eq!((d.effective_n, d.autocorrelation), (signs.len() as f64, None));
        }
    }
}
