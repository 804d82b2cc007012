//! A power law through points: the exponent by which a cost grows with a size.
//!
//! A straight line through the logarithms, by least squares. Its interval is that of the line's slope: wide where the points
//! do not lie on one power law.
//!
//! # References
//! Draper and Smith, "Applied Regression Analysis", 3rd edition, 1998, section 1.4 (the slope's standard error).

use super::student;
use serde::{Deserialize, Serialize};

/// Fewer sizes than this say nothing about a law: two lie on one always, three leave one degree of freedom.
pub const FEWEST_SIZES: usize = 4;

/// How a cost grows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PowerLaw {
    /// The exponent: 1 for a cost that is proportional to the size.
    pub exponent: f64,
    /// Its 95 % interval.
    pub ci95: [f64; 2],
    /// The number of sizes.
    pub sizes: usize,
}

/// The law of `points`, each a size and a cost; `None` for fewer than [`FEWEST_SIZES`] sizes, and where one is not positive.
pub fn power_law(points: &[(f64, f64)]) -> Option<PowerLaw> {
    let logs: Option<Vec<(f64, f64)>> = points
        .iter()
        .map(|&(size, cost)| (size > 0.0 && cost > 0.0).then(|| (size.ln(), cost.ln())))
        .collect();
    let logs = logs?;
    let mut sizes: Vec<f64> = logs.iter().map(|(x, _)| *x).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    if sizes.len() < FEWEST_SIZES {
        return None;
    }
    let n = logs.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| logs.iter().map(of).sum::<f64>() / n;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let sxx: f64 = logs.iter().map(|p| (p.0 - x).powi(2)).sum();
    let sxy: f64 = logs.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    let exponent = sxy / sxx;
    let residuals: f64 = logs.iter().map(|p| (p.1 - y - exponent * (p.0 - x)).powi(2)).sum();
    let error = (residuals / (n - 2.0) / sxx).sqrt();
    let law = PowerLaw {
        exponent,
        ci95: student::around(exponent, student::quantile(0.95, n - 2.0) * error),
        sizes: sizes.len(),
    };
    law.exponent.is_finite().then_some(law)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(cost: impl Fn(f64) -> f64) -> Option<PowerLaw> {
        let sizes = [16.0, 64.0, 256.0, 1024.0, 4096.0];
        power_law(&sizes.map(|n| (n, cost(n))))
    }

    #[test]
    fn an_exact_law_is_found_with_no_doubt() {
        let law = of(|n| 3.0 * n.powf(1.5)).unwrap();
        assert!((law.exponent - 1.5).abs() < 1e-12 && law.sizes == 5);
        assert!((law.ci95[1] - law.ci95[0]) < 1e-9, "{law:?}");
    }

    #[test]
    fn another_law_widens_the_interval() {
        let law = of(|n| 1000.0 + n * n).unwrap();
        assert!(law.ci95[1] - law.ci95[0] > 0.5, "{law:?}");
        let n_log_n = of(|n| n * n.ln()).unwrap();
        assert!((1.1..1.4).contains(&n_log_n.exponent), "{n_log_n:?}");
    }

    #[test]
    fn the_slope_and_its_error_are_those_of_a_published_line() {
        // Anscombe, "Graphs in Statistical Analysis", 1973, set 1: slope 0.5001, standard error 0.1179, 9 degrees of freedom.
        let x = [10.0, 8.0, 13.0, 9.0, 11.0, 14.0, 6.0, 4.0, 12.0, 7.0, 5.0];
        let y = [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68];
        let points: Vec<(f64, f64)> = x.iter().zip(y).map(|(x, y): (&f64, f64)| (x.exp(), y.exp())).collect();
        let law = power_law(&points).unwrap();
        assert!((law.exponent - 0.5001).abs() < 5e-5, "{law:?}");
        // t(0.975, 9) = 2.262.
        assert!((law.ci95[1] - law.exponent - 2.262 * 0.1179).abs() < 5e-4, "{law:?}");
    }

    #[test]
    fn too_few_sizes_and_no_cost_have_no_law() {
        assert_eq!(power_law(&[(1.0, 1.0), (2.0, 2.0), (4.0, 4.0)]), None);
        assert_eq!(power_law(&[(1.0, 1.0); 9]), None, "nine of one size");
        assert_eq!(of(|n| n - 16.0), None);
    }
}
