//! The difference between two groups of machines of which some do not belong: Yuen's test of trimmed means.
//!
//! A fifth of the machines on each side is trimmed from the mean, and their distance is counted as that of the last that stays
//! (winsorized). Up to a fifth of a group may be outliers without moving the mean of the others, and the interval stays one of Welch's kind:
//! the groups may have different spreads and sizes. The median has two thirds of the efficiency of the mean; a mean trimmed by a
//! fifth has nine tenths of it.
//!
//! # Few machines beside many
//! The variance of a few machines is near 0 by chance every so often. Welch's degrees of freedom then become those of the large
//! group, and a difference that is none has a p of 10⁻⁶. So there are at most as many degrees of freedom as the group that has fewer
//! gives, with which no pair of variances makes the test claim more than its level (Mickey and Brown). Fewer than
//! [`FEWEST`] machines are not compared, and groups below [`TRIM_FROM`] are not trimmed: two of five would be half of what is known.
//!
//! # References
//! - K. K. Yuen, "The two-sample trimmed t for unequal population variances", Biometrika 61(1), 1974, pp. 165–170.
//! - M. R. Mickey, M. B. Brown, "Bounds on the Distribution Functions of the Behrens-Fisher Statistic", Annals of Mathematical
//!   Statistics 37(3), 1966, pp. 639–642.
//! - R. R. Wilcox, "Introduction to Robust Estimation and Hypothesis Testing", 4th edition, 2017, section 5.3.
//! - P. Mair, R. Wilcox, "Robust statistical methods in R using the WRS2 package", Behavior Research Methods 52, 2020: the example
//!   of the tests.

use super::student;

/// The share that is trimmed on each side: Wilcox's choice.
const TRIMMED: f64 = 0.2;

/// The fewest machines of a group that is compared.
pub const FEWEST: usize = 3;

/// Groups of at least this many are trimmed.
const TRIM_FROM: usize = 10;

/// A group's trimmed mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trimmed {
    /// The mean of those that stay.
    pub mean: f64,
    /// The squared standard error of it.
    variance: f64,
    /// Degrees of freedom.
    df: f64,
}

/// The difference of two trimmed means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Apart {
    /// Second − first.
    pub difference: f64,
    /// Its 95 % interval.
    pub ci95: [f64; 2],
    /// Two-sided p.
    pub p: f64,
}

impl Trimmed {
    /// Of a sorted column whose values are known to ± `resolution`. `None` for fewer than [`FEWEST`] values.
    pub fn of_sorted(sorted: &[f64], resolution: f64) -> Option<Self> {
        let n = sorted.len();
        if n < FEWEST {
            return None;
        }
        let cut = if n < TRIM_FROM {
            0
        } else {
            (TRIMMED * n as f64) as usize
        };
        let stay = &sorted[cut..n - cut];
        let h = stay.len() as f64;
        let mean = stay.iter().sum::<f64>() / h;
        let winsorized = |i: usize| sorted[i.clamp(cut, n - 1 - cut)];
        let centre = (0..n).map(winsorized).sum::<f64>() / n as f64;
        let squares: f64 = (0..n).map(|i| (winsorized(i) - centre).powi(2)).sum();
        Some(Self {
            mean,
            variance: (squares / (h * (h - 1.0))).max(resolution * resolution / n as f64),
            df: h - 1.0,
        })
    }

    /// How far `other` is from this one.
    pub fn against(&self, other: &Self) -> Apart {
        self.with_df(other, self.welch_df(other).min(self.df.min(other.df)))
    }

    /// Welch's degrees of freedom, as Yuen has them.
    fn welch_df(&self, other: &Self) -> f64 {
        let variance = self.variance + other.variance;
        let part = |t: &Self| t.variance * t.variance / t.df;
        variance * variance / (part(self) + part(other))
    }

    fn with_df(&self, other: &Self, df: f64) -> Apart {
        let difference = other.mean - self.mean;
        let se = (self.variance + other.variance).sqrt();
        Apart {
            difference,
            ci95: student::around(difference, student::quantile(0.95, df) * se),
            p: student::two_sided_p(difference / se, df),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::column;
    use crate::tests::rates::rate;

    fn sorted(mut values: Vec<f64>) -> Vec<f64> {
        values.sort_unstable_by(f64::total_cmp);
        values
    }

    #[test]
    fn as_wrs2_prints_it() {
        // Mair and Wilcox, 2020, section "Two-sample": anxiety at a picture of a spider and at a real one.
        let picture = sorted([30, 35, 45, 40, 50, 35, 55, 25, 30, 45, 40, 50].map(f64::from).to_vec());
        let real = sorted([40, 35, 50, 55, 65, 55, 50, 35, 30, 50, 60, 39].map(f64::from).to_vec());
        let [a, b] = [&picture, &real].map(|g| Trimmed::of_sorted(g, 0.0).unwrap());
        // Its degrees of freedom are not held to the smaller group's.
        let apart = a.with_df(&b, a.welch_df(&b));
        let shown = format!(
            "{:.2} [{:.3}, {:.3}] p = {:.4}",
            apart.difference, apart.ci95[0], apart.ci95[1], apart.p
        );
        assert_eq!(shown, "6.75 [-4.429, 17.929] p = 0.2161");
    }

    #[test]
    fn a_sixth_of_ill_machines_changes_little_and_a_mean_much() {
        let well: Vec<f64> = (0..60).map(|i| f64::from(i % 10) * 0.001).collect();
        let ill = sorted(
            well.iter()
                .enumerate()
                .map(|(i, x)| x + f64::from(u8::from(i % 6 == 0)))
                .collect(),
        );
        let [a, b] = [&sorted(well), &ill].map(|g| Trimmed::of_sorted(g, 0.0).unwrap());
        assert!(a.against(&b).difference < 0.002, "{:?}", a.against(&b));
        assert!(ill.iter().sum::<f64>() / 60.0 > 0.15);
    }

    #[test]
    fn covers_the_truth_in_groups_of_different_spread_and_size() {
        let missed = rate(4000, 51, |s| {
            let a = sorted(column(8, || 4.0 * s.normal()));
            let b = sorted(column(40, || s.normal()));
            let [a, b] = [a, b].map(|g| Trimmed::of_sorted(&g, 0.0).unwrap());
            let [low, high] = a.against(&b).ci95;
            low > 0.0 || high < 0.0
        });
        assert!((0.035..0.065).contains(&missed), "{missed}");
    }

    #[test]
    fn equal_values_have_the_resolution_for_a_spread() {
        let [a, b] = [[1.0; 6], [1.001; 6]].map(|g| Trimmed::of_sorted(&g, 0.001).unwrap());
        let apart = a.against(&b);
        assert!(apart.p > 0.05 && apart.ci95[0] < 0.0, "{apart:?}");
        assert_eq!(Trimmed::of_sorted(&[1.0, 2.0], 0.0), None);
    }

    /// The share of pairs of groups of these sizes, of one distribution, of which `p` is below 0.001.
    fn false_claims(sizes: [usize; 2], p: impl Fn(&Trimmed, &Trimmed) -> f64) -> f64 {
        rate(6000, 52, |s| {
            let [a, b] = sizes.map(|n| Trimmed::of_sorted(&sorted(column(n, || s.normal())), 0.0).unwrap());
            p(&a, &b) < 1e-3
        })
    }

    #[test]
    fn groups_of_unequal_size_that_are_alike_are_not_said_to_differ() {
        for sizes in [[3, 20], [3, 3], [5, 60], [9, 60], [10, 60], [20, 20]] {
            let claims = false_claims(sizes, |a, b| a.against(b).p);
            // Six are expected of 6000 at most, and chance has fourteen in one of a thousand.
            assert!(claims <= 0.0024, "{sizes:?}: {claims}");
        }
    }

    #[test]
    fn twin_welchs_degrees_of_freedom_are_caught() {
        let claims = false_claims([3, 20], |a, b| a.with_df(b, a.welch_df(b)).p);
        assert!(claims > 0.005, "{claims}");
    }
}
