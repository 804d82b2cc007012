//! What the rows of one machine say together, where none of them says enough.
//!
//! The rows of a machine have normal scores z, of which any two have the correlation ρ: what the machine has in common in all of them.
//! With m scores y = (z − z̄)/√(1 − ρ) + z̄/√(1 + (m − 1) ρ) are independent. Two statistics are taken in each direction:
//!
//! - the *level* √m ȳ: a machine that is a little slow in every row. It is normal.
//! - *some* rows, Σ max(0, y)²: a machine that is slow in a few of them. It is 0 or chi-squared with as many degrees of freedom as scores
//!   are above 0, which are binomial (chi-bar-squared).
//!
//! The p of a machine is that of the least of the four (Šidák), which is right far out and too large where it is not small: the statistics
//! depend on each other. Neither equal correlations nor their value are certain, so it is not taken as it is: its normal score is compared
//! with those of the other machines, which are the null distribution (Efron, 2004). Theory is its prior ([`USUAL`]), and it is never narrower.
//!
//! # References
//! - A. Kudô, "A Multivariate Analogue of the One-Sided Test", Biometrika 50(3–4), 1963: chi-bar-squared.
//! - Z. Šidák, "Rectangular Confidence Regions for the Means of Multivariate Normal Distributions", Journal of the American
//!   Statistical Association 62(318), 1967.
//! - B. Efron, "Large-Scale Simultaneous Hypothesis Testing: The Choice of a Null Hypothesis", Journal of the American
//!   Statistical Association 99(465), 2004.

use super::moderated::Prior;
use super::robust::Robust;
use statrs::distribution::{ChiSquared, ContinuousCDF, Normal};
use statrs::function::factorial::ln_binomial;

/// The most that rows are taken to have in common: at 1 they would be one row.
const MOST_ALIKE: f64 = 0.95;

/// Mean and standard deviation that [`Robust`] finds of the scores of ordinary machines, where theory holds: within 0.05 and 0.005 for two to
/// sixteen rows (40 000 simulated machines each). Far out they are standard normal.
const USUAL: [f64; 2] = [-0.08, 0.885];

/// As many machines the theory is worth.
const WORTH: f64 = 60.0;

/// How far each of the scores that [`together`] gives is from the others, in standard deviations where ordinary machines' scores are
/// normal, and the degrees of freedom of that; nothing for fewer than three.
pub fn beyond_usual(scores: &[f64]) -> Vec<(f64, f64)> {
    let [centre, sd] = USUAL;
    let mut sorted = scores.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let Some(fit) = Robust::of_sorted(&sorted, sd) else {
        return Vec::new();
    };
    let theory = Prior {
        variance: sd * sd,
        df: WORTH,
    };
    let far = |score: &f64| {
        let (sigmas, df) = fit.distance(*score, *score, 0.0, Some(&theory));
        (centre + sd * sigmas, df)
    };
    scores.iter().map(far).collect()
}

/// The correlation of the rows of machines, by the spread of their means; of those machines that have as many rows as most.
pub fn correlation(machines: &[Vec<f64>]) -> f64 {
    let mut counts: Vec<usize> = machines.iter().map(Vec::len).collect();
    counts.sort_unstable();
    let most = counts.chunk_by(|a, b| a == b).max_by_key(|alike| alike.len());
    let rows = most.map_or(0, |alike| alike[0]);
    let alike = machines.iter().filter(|scores| scores.len() == rows && rows > 1);
    let mut means: Vec<f64> = alike.map(|scores| mean(scores)).collect();
    means.sort_unstable_by(f64::total_cmp);
    let rows = rows as f64;
    let of_spread = |fit: Robust| (rows * fit.sd * fit.sd - 1.0) / (rows - 1.0);
    Robust::of_sorted(&means, 0.0)
        .map_or(0.0, of_spread)
        .clamp(0.0, MOST_ALIKE)
}

/// What the scores of a machine, each standard normal, say together: the normal score of it, and whether they are above 0. `None` for
/// fewer than two.
pub fn together(scores: &[f64], correlation: f64) -> Option<(f64, bool)> {
    if scores.len() < 2 {
        return None;
    }
    let (m, mean) = (scores.len() as f64, mean(scores));
    let level = mean / (1.0 + (m - 1.0) * correlation).sqrt();
    let own = |z: &f64| (z - mean) / (1.0 - correlation).sqrt() + level;
    let above = |sign: f64| -> f64 { scores.iter().map(|z| (sign * own(z)).max(0.0).powi(2)).sum() };
    let p = |sign: f64| {
        let of_level = Normal::standard().sf(sign * level * m.sqrt());
        of_level.min(chi_bar_squared(above(sign), scores.len()))
    };
    let (up, down) = (p(1.0), p(-1.0));
    let least = up.min(down);
    let p = -(4.0 * (-least).ln_1p()).exp_m1();
    Some((-Normal::standard().inverse_cdf(p.max(1e-300)), up <= down))
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// How often the squares of those of `n` standard normal values that are above 0 sum up to more than `x`.
fn chi_bar_squared(x: f64, n: usize) -> f64 {
    if x <= 0.0 {
        return 1.0;
    }
    let share = |above: usize| {
        let how_often = (ln_binomial(n as u64, above as u64) - n as f64 * std::f64::consts::LN_2).exp();
        how_often * ChiSquared::new(above as f64).map_or(0.0, |chi2| chi2.sf(x))
    };
    (1..=n).map(share).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Source, column};

    /// Machines of eight rows with this correlation.
    fn fleet(machines: usize, correlation: f64, seed: u64) -> Vec<Vec<f64>> {
        let mut s = Source::new(seed);
        let machine = |_| {
            let common = s.normal() * correlation.sqrt();
            column(8, || common + s.normal() * (1.0 - correlation).sqrt())
        };
        (0..machines).map(machine).collect()
    }

    #[test]
    fn the_correlation_is_found_though_some_machines_are_far() {
        for truth in [0.0, 0.3, 0.6, 0.9] {
            let mut machines = fleet(2000, truth, 1);
            for machine in &mut machines[..100] {
                machine.iter_mut().for_each(|z| *z += 5.0);
            }
            let found = correlation(&machines);
            assert!((found - truth).abs() < 0.06, "{truth}: {found}");
        }
        assert_eq!(correlation(&[]), 0.0);
        assert_eq!(correlation(&[vec![1.0], vec![2.0]]), 0.0);
    }

    #[test]
    fn scores_of_ordinary_machines_are_about_normal_and_those_that_take_rows_for_independent_are_not() {
        let machines = fleet(4000, 0.6, 2);
        let beyond = |correlation: f64| {
            let far = machines.iter().filter(|z| together(z, correlation).unwrap().0 > 2.326);
            far.count() as f64 / 4000.0
        };
        assert!((0.002..0.018).contains(&beyond(0.6)), "{}", beyond(0.6));
        // The twin.
        assert!(beyond(0.0) > 0.05, "{}", beyond(0.0));
    }

    #[test]
    fn a_little_in_all_rows_and_more_in_three_speak_and_the_direction_is_known() {
        let score = |z: &[f64], correlation: f64| together(z, correlation).unwrap();
        assert!(score(&[2.8; 8], 0.5).0 > 3.0 && score(&[-2.8; 8], 0.0).0 > 6.0);
        assert!(!score(&[-2.8; 8], 0.0).1);
        let three = [3.0, 3.0, 3.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        assert!(
            score(&three, 0.0).0 > 2.8 && score(&three, 0.5).0 > 3.5,
            "{:?}",
            score(&three, 0.5)
        );
        assert!(score(&[0.3, -0.4, 0.8, -0.9, 0.1, 0.2, -1.0, 0.5], 0.0).0 < 1.0);
        assert_eq!(together(&[9.0], 0.0), None);
    }

    #[test]
    fn chi_bar_squared_of_one_value_is_a_normal_tail() {
        assert!((chi_bar_squared(4.0, 1) - 0.022_750).abs() < 1e-5);
        assert_eq!(chi_bar_squared(0.0, 3), 1.0);
    }
}
