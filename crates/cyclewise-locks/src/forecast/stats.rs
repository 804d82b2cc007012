//! Formulas of the forecast's intervals, each with its reference.

/// Points of the grid on which the error's distribution is computed.
const GRID: usize = 120;
/// What is thought of the model's error before any truth: a half-normal distribution of this scale.
///
/// In units of the price back to back. A model that knows nothing would draw the share that a program pays from 0 to 1; the
/// standard deviation of that is 1/√12.
const PRIOR: f64 = 0.288_675_134_594_812_9;
/// The largest error on the grid, in units of the price back to back: five times the prior's scale.
const MOST: f64 = 5.0 * PRIOR;
/// The normal distribution's quantile of 97.5 %.
pub(super) const Z: f64 = 1.959_963_984_540_054;

/// One truth beside its forecast, in units that all have in common, such as percent of the program's time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Residual {
    /// The truth less the forecast.
    pub(super) difference: f64,
    /// The standard deviation of what is known to be uncertain in both.
    pub(super) known: f64,
    /// The price back to back: what the error is a share of.
    pub(super) scale: f64,
}

/// The half-width of the 95 % interval of the model's error for another program, as a share of the price back to back.
///
/// Truths are `difference ~ N(0, known² + (τ scale)²)`, with a half-normal prior of τ: the normal-normal hierarchical model of
/// meta-analysis (C. Röver, "Bayesian random-effects meta-analysis using the bayesmeta R package", J. Stat. Softw. 93:6,
/// 2020; the prior is that of A. Gelman, Bayesian Analysis 1:3, 2006). τ is integrated over a grid, so few or noisy truths
/// leave the interval wide. The mean of the error is 0: nothing is fitted to the truths.
pub(super) fn error_share(residuals: &[Residual]) -> f64 {
    let step = MOST / GRID as f64;
    let grid: Vec<f64> = (0..GRID).map(|at| (at as f64 + 0.5) * step).collect();
    let logs: Vec<f64> = grid.iter().map(|tau| log_posterior(*tau, residuals)).collect();
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = logs.iter().map(|log| (log - most).exp()).collect();
    let sum: f64 = weights.iter().sum();
    let beyond = |half: f64| {
        let tails = grid
            .iter()
            .zip(&weights)
            .map(|(tau, weight)| weight * two_tails(half / tau));
        tails.sum::<f64>() / sum
    };
    // Bisection, since the tails fall steadily.
    let (mut low, mut high) = (0.0, 4.0 * MOST);
    for _ in 0..40 {
        let middle = f64::midpoint(low, high);
        if beyond(middle) > 0.05 {
            low = middle
        } else {
            high = middle
        }
    }
    high
}

fn log_posterior(tau: f64, residuals: &[Residual]) -> f64 {
    let prior = -0.5 * (tau / PRIOR).powi(2);
    residuals.iter().fold(prior, |sum, r| {
        let variance = r.known.powi(2) + (tau * r.scale).powi(2);
        if variance > 0.0 {
            sum - 0.5 * (r.difference.powi(2) / variance + variance.ln())
        } else {
            sum
        }
    })
}

/// The probability that a standard normal variable is farther from 0 than `z`.
///
/// M. Abramowitz and I. Stegun, Handbook of Mathematical Functions, 7.1.26: the error is below 1.5e-7.
fn two_tails(z: f64) -> f64 {
    let x = z.abs() / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * x);
    let poly =
        t * (0.254_829_592 + t * (-0.284_496_736 + t * (1.421_413_741 + t * (-1.453_152_027 + t * 1.061_405_429))));
    poly * (-x * x).exp()
}

/// The 95 % score interval of a Poisson mean of which `n` events were seen, as factors of `max(n, 1)`.
///
/// L. Barker, "A comparison of nine confidence intervals for a Poisson parameter when the expected number of events is at most
/// 5", The American Statistician 56:2, 2002.
pub(super) fn poisson(n: f64) -> [f64; 2] {
    let center = n + Z * Z / 2.0;
    let half = Z * (n + Z * Z / 4.0).sqrt();
    [(center - half) / n.max(1.0), (center + half) / n.max(1.0)]
}

/// Independent half-widths together.
pub(super) fn together(halves: &[f64]) -> f64 {
    halves.iter().map(|half| half * half).sum::<f64>().sqrt()
}

/// The mean of measurements of one quantity, weighted by their precision, and its standard deviation.
pub(super) fn pooled(measurements: &[(f64, f64)]) -> (f64, f64) {
    let weight: f64 = measurements.iter().map(|(_, sd)| 1.0 / (sd * sd)).sum();
    let mean = measurements.iter().map(|(mean, sd)| mean / (sd * sd)).sum::<f64>() / weight;
    (mean, weight.sqrt().recip())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_truths_the_error_is_the_priors() {
        // Half-normal mixture of normals by hand: P(|τ z| > q) = 0.05 at q = 2.18 scales, by numerical integration.
        let share = error_share(&[]);
        assert!((share / PRIOR - 2.18).abs() < 0.03, "{}", share / PRIOR);
    }

    #[test]
    fn good_truths_narrow_it_and_bad_ones_widen_it() {
        let truths = |difference| {
            let one = Residual {
                difference,
                known: 0.5,
                scale: 20.0,
            };
            error_share(&[one; 8])
        };
        assert!(truths(0.0) < 0.1, "{}", truths(0.0));
        assert!(truths(12.0) > error_share(&[]), "{}", truths(12.0));
    }

    #[test]
    fn truths_that_tell_nothing_change_nothing() {
        let vague = Residual {
            difference: 3.0,
            known: 5.0,
            scale: 0.1,
        };
        assert!((error_share(&[vague; 20]) - error_share(&[])).abs() < 0.02);
    }

    #[test]
    fn the_score_interval_is_the_published_one() {
        let [low, high] = poisson(5.0).map(|factor| factor * 5.0);
        assert!(
            (low - 2.136).abs() < 0.001 && (high - 11.706).abs() < 0.001,
            "{low} {high}"
        );
        assert_eq!(poisson(0.0)[0], 0.0);
        assert!((poisson(0.0)[1] - 3.841).abs() < 0.001);
    }

    #[test]
    fn tails_are_those_of_the_tables() {
        for (z, tails) in [(0.0, 1.0), (1.0, 0.317_310_5), (Z, 0.05), (3.0, 0.002_699_8)] {
            assert!((two_tails(z) - tails).abs() < 3e-7, "{z}");
        }
    }

    #[test]
    fn two_measurements_are_more_precise_than_one() {
        let (mean, sd) = pooled(&[(11.3, 1.0), (11.8, 1.0)]);
        assert!((mean - 11.55).abs() < 1e-12 && (sd - 0.5f64.sqrt()).abs() < 1e-12);
    }
}
