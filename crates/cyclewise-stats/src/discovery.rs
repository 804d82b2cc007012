//! Many tests of which a few are true: Benjamini and Hochberg's false discovery rate.
//!
//! Holm's correction (`holm`) keeps the chance of *any* false claim at 5 %, which suits the verdicts of one record. A fleet has some
//! 340 000 tests (20 000 machines in 17 rows), and its reader will look at each machine that is named: there the share of
//! false ones among those named is what matters.
//!
//! # Dependent tests
//! The rows of one machine depend on each other: one slow machine is slow in many. The procedure keeps its rate where tests are
//! positively dependent (Benjamini and Yekutieli, 2001). For two-sided tests of correlated normal values no proof is known, and
//! none of the simulations in the literature exceeds the rate (Reiner-Benaim, 2007); those of `fleet/made_up` have the
//! correlation of real rows. Benjamini and Yekutieli's correction for any dependence would divide the rate by ln n, 13 here.
//!
//! # References
//! - Y. Benjamini, Y. Hochberg, "Controlling the False Discovery Rate: A Practical and Powerful Approach to Multiple Testing",
//!   Journal of the Royal Statistical Society B 57(1), 1995, pp. 289–300.
//! - Y. Benjamini, D. Yekutieli, "The Control of the False Discovery Rate in Multiple Testing under Dependency", Annals of
//!   Statistics 29(4), 2001.
//! - A. Reiner-Benaim, "FDR Control by the BH Procedure for Two-Sided Correlated Tests with Implications to Gene Expression
//!   Data Analysis", Biometrical Journal 49(1), 2007.

/// The least false discovery rate at which each test is a discovery, in the order given. A p that is not a number counts as 1.
pub fn discovery_rates(p: &[f64]) -> Vec<f64> {
    let known = |i: usize| if p[i].is_nan() { 1.0 } else { p[i].clamp(0.0, 1.0) };
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_unstable_by(|&i, &j| known(i).total_cmp(&known(j)).then(i.cmp(&j)));
    let mut rates = vec![1.0; p.len()];
    let mut ceiling: f64 = 1.0;
    for (rank, &i) in order.iter().enumerate().rev() {
        ceiling = ceiling.min(known(i) * p.len() as f64 / (rank + 1) as f64);
        rates[i] = ceiling;
    }
    rates
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_benjamini_and_hochberg() {
        // Table 1 of the paper, section 3.2: at 0.05 the four smallest of fifteen are discoveries, at Bonferroni's three.
        let p = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528,
            0.7590, 1.0000,
        ];
        let rates = discovery_rates(&p);
        assert_eq!(rates.iter().filter(|q| **q <= 0.05).count(), 4);
        assert_eq!(p.iter().filter(|p| **p * 15.0 <= 0.05).count(), 3);
        assert!((rates[3] - 0.0095 * 15.0 / 4.0).abs() < 1e-12);
        // Held down by the one after it.
        assert!((rates[5] - 0.0298 * 15.0 / 7.0).abs() < 1e-12, "{}", rates[5]);
    }

    #[test]
    fn few_and_odd_values() {
        assert_eq!(discovery_rates(&[]), Vec::<f64>::new());
        assert_eq!(discovery_rates(&[f64::NAN, 0.01]), [1.0, 0.02]);
        assert_eq!(discovery_rates(&[0.02, 0.02]), [0.02, 0.02]);
        assert_eq!(discovery_rates(&[2.0, -1.0]), [1.0, 0.0]);
    }
}
