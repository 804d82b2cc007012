//! A median, its order-statistic interval and the sign test, over as many rounds as the series is worth.
//!
//! The r-th smallest and the r-th largest of n independent values enclose the true median unless fewer than r values fell
//! on one side of it, whatever the values' distribution: the count is binomial with probability ½. A few disturbed samples
//! change nothing, and no spread has to be assumed or estimated. The bounds are samples, chosen by integer arithmetic, so
//! that they are the same to the bit on every machine.
//!
//! # Dependent rounds
//! r is that of [`dependence`]'s effective n, and the ranks are scaled to the n there are: the bounds
//! are the samples at those shares of the sorted column.
//!
//! # Values that do not exist
//! A ratio to a cost of zero or less is no number. It could be anything, so it counts as below the lower bound and as
//! above the upper one, and a bound that falls on such a value does not exist.
//!
//! # References
//! - W. R. Thompson, "On Confidence Ranges for the Median and Other Expectation Distributions for Populations of Unknown
//!   Distribution Form", Annals of Mathematical Statistics 7(3), 1936, pp. 122–128.
//! - W. J. Conover, "Practical Nonparametric Statistics", 3rd edition, 1999, section 3.4 (the sign test) and section 3.2
//!   (the interval, and its approximation for many values).
//! - H. A. David, H. N. Nagaraja, "Order Statistics", 3rd edition, 2003, section 7.1.

use super::Interval;
use super::dependence::{self, Dependence};
use statrs::distribution::{ContinuousCDF, Normal};

/// The fewest values whose median has a 95 % interval.
pub const FEWEST_IN_MEDIAN: usize = 6;

/// Up to this count binomial tails are summed: ½ to this power is a normal double.
const EXACT_MAX: usize = 1000;

/// The median of a column and what is known about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Median {
    /// The median of the values that exist.
    pub median: f64,
    /// How the values depend on each other.
    pub dependence: Dependence,
    /// The values that exist.
    sorted: Vec<f64>,
    /// How many do not.
    undefined: usize,
}

impl Median {
    /// The median of `series`, in the order of its rounds. A value that is not finite does not exist; `None` if none does.
    pub fn of_series(series: &[f64]) -> Option<Self> {
        let existing: Vec<f64> = series.iter().copied().filter(|x| x.is_finite()).collect();
        let mut sorted = existing.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        let median = middle(&sorted)?;
        let signs: Vec<i8> = existing.iter().map(|x| sign(x - median)).collect();
        Some(Self {
            median,
            dependence: dependence::of_signs(&signs),
            undefined: series.len() - sorted.len(),
            sorted,
        })
    }

    /// Values, existing or not.
    pub fn n(&self) -> usize {
        self.sorted.len() + self.undefined
    }

    /// Whole independent values that the series is worth.
    pub fn independent(&self) -> usize {
        (self.dependence.effective_n as usize).clamp(1, self.n())
    }

    /// The interval at `level` (0.95 for 95 %). Both bounds are unknown if the values are too few: 95 % takes six, 99 % eight.
    pub fn interval(&self, level: f64) -> Interval {
        let (n, independent) = (self.n(), self.independent());
        let rank = rank(independent, level);
        // The r-th of m values estimates the quantile r / (m + 1).
        let Some(index) = (rank * (n + 1) / (independent + 1)).checked_sub(1).filter(|_| rank > 0) else {
            return [None; 2];
        };
        // Values that do not exist lie before the first on the one side and after the last on the other.
        let low = index.checked_sub(self.undefined).and_then(|i| self.sorted.get(i));
        let high = (n - 1 - index < self.sorted.len()).then(|| self.sorted[n - 1 - index]);
        [low.copied(), high]
    }

    /// Two-sided p of the sign test that the median is `value`; a tie counts as one half on each side.
    pub fn sign_p(&self, value: f64) -> f64 {
        let (n, independent) = (self.sorted.len(), self.independent());
        let below = self.sorted.partition_point(|&x| x < value);
        let above = n - self.sorted.partition_point(|&x| x <= value);
        // Twice the smaller side with half of the ties, in integers, and scaled to the independent values.
        let twice = 2 * below.min(above) + (n - below - above);
        let fewer = twice * independent / (2 * n);
        (2.0 * lower_tail(independent, fewer)).min(1.0)
    }
}

/// The interval of the median of independent values, sorted: that of a group of machines, which are in no order. Both bounds are
/// unknown if the values are too few: 95 % takes six.
pub fn order_interval(sorted: &[f64], level: f64) -> Interval {
    match rank(sorted.len(), level) {
        0 => [None; 2],
        rank => [Some(sorted[rank - 1]), Some(sorted[sorted.len() - rank])],
    }
}

/// The middle of a sorted column; the middle of the two middle values for an even count.
pub fn middle(sorted: &[f64]) -> Option<f64> {
    let half = sorted.len() / 2;
    let upper = *sorted.get(half)?;
    Some(if sorted.len() % 2 == 1 {
        upper
    } else {
        sorted[half - 1].midpoint(upper)
    })
}

fn sign(x: f64) -> i8 {
    i8::from(x > 0.0) - i8::from(x < 0.0)
}

/// The largest r for which fewer than r of n values on one side have a chance of at most half of 1 − `level`; 0 if none has.
fn rank(n: usize, level: f64) -> usize {
    let tail = (1.0 - level) / 2.0;
    if n > EXACT_MAX {
        // Conover's approximation, rounded outwards.
        let z = if level >= 0.99 {
            2.575_829_303_548_901
        } else {
            1.959_963_984_540_054
        };
        return ((n as f64 - z * (n as f64).sqrt()) / 2.0) as usize;
    }
    let mut r = 0;
    let (mut chance, mut sum) = (0.5_f64.powi(n as i32), 0.0);
    while r < n && sum + chance <= tail {
        sum += chance;
        chance *= (n - r) as f64 / (r + 1) as f64;
        r += 1;
    }
    r
}

/// P(X ≤ `k`) of a binomial count of `n` with probability ½.
fn lower_tail(n: usize, k: usize) -> f64 {
    if n > EXACT_MAX {
        let distance = (n as f64 / 2.0 - k as f64 - 0.5) / ((n as f64).sqrt() / 2.0);
        return Normal::standard().sf(distance);
    }
    let mut chance = 0.5_f64.powi(n as i32);
    let mut sum = chance;
    for i in 0..k.min(n) {
        chance *= (n - i) as f64 / (i + 1) as f64;
        sum += chance;
    }
    sum.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{MEAN, SD, Source, column};
    use crate::tests::rates::rate;

    fn counted(n: usize) -> Median {
        // An order without correlation: a multiplier that is coprime to n.
        let series: Vec<f64> = (0..n).map(|i| (i * 7 % n) as f64).collect();
        let mut median = Median::of_series(&series).unwrap();
        median.dependence.effective_n = n as f64;
        median
    }

    #[test]
    fn ranks_are_those_of_the_published_table() {
        // Conover 1999, table A3 and section 3.2; Hollander and Wolfe 1973, table A.2 with C = n + 1 − r.
        for (n, r95, r99) in [
            (5, 0, 0),
            (6, 1, 0),
            (7, 1, 0),
            (8, 1, 1),
            (10, 2, 1),
            (20, 6, 4),
            (30, 10, 8),
            (50, 18, 16),
            (100, 40, 37),
        ] {
            assert_eq!((rank(n, 0.95), rank(n, 0.99)), (r95, r99), "{n}");
        }
        // The approximation joins the exact ranks.
        for level in [0.95, 0.99] {
            assert!(
                (0..=2).contains(&(rank(1000, level) as i64 + 1 - rank(1002, level) as i64 + 1)),
                "{level}"
            );
        }
    }

    #[test]
    fn p_is_that_of_the_published_sign_test() {
        // Conover 1999, section 3.4, example 1: 8 of 10 with one side preferred; P(X ≤ 2) = 0.0547 for n = 10.
        assert!((lower_tail(10, 2) - 0.0546875).abs() < 1e-15);
        let series = [1.0, 2.0, -1.0, 3.0, 4.0, -2.0, 5.0, 6.0, 7.0, 8.0];
        let mut m = Median::of_series(&series).unwrap();
        m.dependence.effective_n = 10.0;
        assert!((m.sign_p(0.0) - 2.0 * 0.0546875).abs() < 1e-15);
        assert_eq!(m.sign_p(m.median), 1.0);
        // Exact and approximate tails agree where they meet.
        let (exact, normal) = (lower_tail(1000, 460), lower_tail(1001, 460));
        assert!((exact / normal - 1.0).abs() < 0.1, "{exact} {normal}");
    }

    #[test]
    fn bounds_are_samples_and_need_six_or_eight() {
        assert_eq!(counted(FEWEST_IN_MEDIAN - 1).interval(0.95), [None; 2]);
        assert_eq!(counted(6).interval(0.95), [Some(0.0), Some(5.0)]);
        assert_eq!(counted(7 + 1).interval(0.99), [Some(0.0), Some(7.0)]);
        assert_eq!(counted(20).interval(0.95), [Some(5.0), Some(14.0)]);
    }

    #[test]
    fn fewer_independent_rounds_have_a_wider_interval() {
        let mut m = counted(1000);
        let width = |m: &Median| m.interval(0.95)[1].unwrap() - m.interval(0.95)[0].unwrap();
        let narrow = width(&m);
        m.dependence.effective_n = 100.0;
        let ratio = width(&m) / narrow;
        assert!((2.9..3.6).contains(&ratio), "√10 times as wide: {ratio}");
        m.dependence.effective_n = 5.0;
        assert_eq!(m.interval(0.95), [None; 2]);
    }

    #[test]
    fn what_does_not_exist_widens_both_sides() {
        let mut series: Vec<f64> = (0..20).map(f64::from).collect();
        assert_eq!(Median::of_series(&series).unwrap().n(), 20);
        series.extend([f64::INFINITY; 3]);
        let mut m = Median::of_series(&series).unwrap();
        m.dependence.effective_n = 23.0;
        assert_eq!(m.median, 9.5);
        // r = 7 of 23: the lower bound is the seventh with three before the first.
        assert_eq!(m.interval(0.95), [Some(3.0), Some(16.0)]);
        series.extend([f64::NAN; 9]);
        let mut m = Median::of_series(&series).unwrap();
        m.dependence.effective_n = 32.0;
        assert_eq!(m.interval(0.95), [None; 2]);
        assert_eq!(Median::of_series(&[f64::NAN]), None);
        assert_eq!(Median::of_series(&[]), None);
    }

    /// Checks the share of 95 % intervals that miss. A `Result`, so that the twin can be shown to fail.
    fn covers(missed: f64) -> Result<(), String> {
        if (0.01..=0.065).contains(&missed) {
            Ok(())
        } else {
            Err(format!("{missed}"))
        }
    }

    #[test]
    fn the_interval_covers_independent_and_dependent_medians() {
        let missed = |keep: f64, know: bool| {
            rate(1500, 21, |s| {
                // A state that lasts: each value keeps `keep` of the last one's deviation.
                let mut last = s.normal();
                let series = column(300, || {
                    last = keep * last + (1.0 - keep * keep).sqrt() * s.normal();
                    last
                });
                let mut m = Median::of_series(&series).unwrap();
                if !know {
                    m.dependence.effective_n = 300.0;
                }
                let [low, high] = m.interval(0.95).map(Option::unwrap);
                low > 0.0 || high < 0.0
            })
        };
        covers(missed(0.0, true)).unwrap();
        covers(missed(0.8, true)).unwrap();
        // The twin takes dependent rounds for independent ones.
        covers(missed(0.8, false)).unwrap_err();
    }

    #[test]
    fn the_interval_is_the_same_everywhere() {
        let mut source = Source::new(3);
        // Deviates of integers only: sums of uniform numbers, exact in binary.
        let series = column(200, || (0..4).map(|_| (source.even() * 1024.0).floor()).sum());
        let m = Median::of_series(&series).unwrap();
        assert_eq!(m.interval(0.95), PINNED);
    }

    /// The interval above, as first computed; a change means old records no longer reproduce.
    const PINNED: Interval = [Some(1929.0), Some(2194.0)];

    #[test]
    fn a_few_outliers_move_nothing() {
        let mut s = Source::new(4);
        let mut series = column(100, || s.gaussian(SD));
        let calm = Median::of_series(&series).unwrap().interval(0.95).map(Option::unwrap);
        series[50] = 1e6 * MEAN;
        let struck = Median::of_series(&series).unwrap().interval(0.95).map(Option::unwrap);
        assert!((struck[0] - calm[0]).abs() < SD && (struck[1] - calm[1]).abs() < SD);
    }
}
