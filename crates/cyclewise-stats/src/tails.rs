//! How heavy the tail of a row's machines is: the Student distribution whose tail it has.
//!
//! A p of 10⁻⁶ is far outside what the machines of one group show, so it rests on the shape that is assumed out there. Machines
//! on which something else runs now and then have more than a normal distribution's share at 2.5 and 4 standard deviations, and
//! then at 5 and 6 many times its share: with normal tails most of the machines named would be ordinary.
//!
//! The machines between [`NEAR`] and [`FAR`] standard deviations are counted. If they are more than a normal distribution has there,
//! p is that of the Student distribution that has as many. Those beyond [`FAR`] are not counted: they may be the outliers looked for.
//! A distance from a small group is first turned into the normal quantile of the same probability ([`normal_score`]): so
//! groups of five, whose distances have heavy tails by their own few degrees of freedom, can be counted with large ones.
//!
//! What is counted together is a trade. One side of one row of a small fleet has two machines out there, which show nothing; all rows
//! and both sides together do ([`Tail::holding`]). Rows differ, and noise is skewed; so one side by itself counts where it is heavier beyond
//! two standard errors of its count ([`Tail::surely`]), less one of them.
//!
//! # References
//! - B. Efron, "Large-Scale Simultaneous Hypothesis Testing: The Choice of a Null Hypothesis", Journal of the American
//!   Statistical Association 99(465), 2004: the null distribution is taken from the bulk of the tests.
//! - K. L. Lange, R. J. A. Little, J. M. G. Taylor, "Robust Statistical Modeling Using the t Distribution", Journal of the
//!   American Statistical Association 84(408), 1989.

use super::robust::{CUT_LARGE, share_left};
use statrs::distribution::{Continuous, ContinuousCDF, Normal, StudentsT};
use std::sync::LazyLock;

/// Where the tail begins: the quantile 0.99 of a normal distribution.
pub const NEAR: f64 = 2.326_347_874_040_841;

/// Where outliers may begin.
pub const FAR: f64 = 4.0;

/// A tail of fewer machines says nothing.
const FEWEST: usize = 4;

/// Standard errors by which a tail has to be heavier than a normal one.
const SURE: f64 = 2.0;

/// Degrees of freedom that are tried, the lightest tail first.
const TRIED: [f64; 15] = [
    50.0, 30.0, 20.0, 15.0, 12.0, 10.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.5, 3.0, 2.5, 2.0,
];

/// The tail of one side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tail {
    /// Degrees of freedom; infinite: a normal tail.
    pub df: f64,
    /// What [`super::robust`] calls one standard deviation, in units of that Student distribution.
    unit: f64,
}

/// A Student distribution as [`super::robust`] sees it: its degrees of freedom, its unit, and its share between near and far on
/// one side, of all that are not beyond far.
static SEEN: LazyLock<Vec<(f64, f64, f64)>> = LazyLock::new(|| {
    TRIED
        .iter()
        .filter_map(|&df| {
            let t = StudentsT::new(0.0, 1.0, df).ok()?;
            let unit = unit(&t);
            let (near, far) = (t.sf(NEAR * unit), t.sf(FAR * unit));
            Some((df, unit, (near - far) / (1.0 - 2.0 * far)))
        })
        .collect()
});

impl Tail {
    /// A normal one.
    pub const NORMAL: Self = Self {
        df: f64::INFINITY,
        unit: 1.0,
    };

    /// Of both sides together: `between` near and far, of `all` that are not beyond far, and one standard error more: few do not
    /// show how heavy their tail is, and every machine that a tail too light names is an ordinary one.
    pub fn holding(between: usize, all: usize) -> Self {
        if between < FEWEST {
            return Self::NORMAL;
        }
        let between = between as f64;
        Self::of_share((between + between.sqrt()) / 2.0 / all as f64)
    }

    /// Of one side that has `between` near and far, of `all` on both sides that are not beyond far. It errs towards normal tails.
    pub fn surely(between: usize, all: usize) -> Self {
        let error = (between as f64).sqrt();
        if between < FEWEST || between as f64 - SURE * error <= normal_share() * all as f64 {
            return Self::NORMAL;
        }
        Self::of_share((between as f64 - error) / all as f64)
    }

    /// Of a share between near and far on one side.
    fn of_share(share: f64) -> Self {
        let (mut per_df, mut unit, mut less) = (0.0, 1.0, normal_share());
        if share <= less {
            return Self::NORMAL;
        }
        for &(df, its_unit, more) in SEEN.iter() {
            if share <= more {
                let part = (share - less) / (more - less);
                return Self {
                    df: 1.0 / (per_df + part * (1.0 / df - per_df)),
                    unit: unit + part * (its_unit - unit),
                };
            }
            (per_df, unit, less) = (1.0 / df, its_unit, more);
        }
        Self { df: 1.0 / per_df, unit }
    }

    /// The heavier of two.
    pub fn or_heavier(self, other: Self) -> Self {
        if other.df < self.df { other } else { self }
    }

    /// Two-sided p of a distance of `sigmas` from a group of `df` degrees of freedom.
    pub fn p(&self, sigmas: f64, df: f64) -> f64 {
        let df = 1.0 / (1.0 / self.df + 1.0 / df);
        StudentsT::new(0.0, 1.0, df).map_or(1.0, |t| (2.0 * t.sf(sigmas.abs() * self.unit)).clamp(0.0, 1.0))
    }
}

/// The share of a normal distribution between near and far on one side.
fn normal_share() -> f64 {
    let normal = Normal::standard();
    normal.sf(NEAR) - normal.sf(FAR)
}

/// The normal quantile of the probability of a distance of `sigmas` with `df` degrees of freedom; that distance itself where it is not
/// beyond [`NEAR`], as the quantile is not either.
pub fn normal_score(sigmas: f64, df: f64) -> f64 {
    if sigmas.abs() < NEAR {
        return sigmas;
    }
    let beyond = StudentsT::new(0.0, 1.0, df).map_or(0.5, |t| t.sf(sigmas.abs()));
    -Normal::standard().inverse_cdf(beyond.max(1e-300)) * sigmas.signum()
}

/// The standard deviation that [`super::robust`] finds in a large group of this distribution.
fn unit(t: &StudentsT) -> f64 {
    let mut unit: f64 = 1.2;
    for _ in 0..50 {
        let (end, steps) = (CUT_LARGE * unit, 2000);
        let at = |i: usize| end * (i as f64 + 0.5) / steps as f64;
        let (mut inside, mut squares) = (0.0, 0.0);
        for x in (0..steps).map(at) {
            inside += t.pdf(x);
            squares += t.pdf(x) * x * x;
        }
        unit = (squares / inside / share_left(CUT_LARGE)).sqrt();
    }
    unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heavier_tails_have_more_between_near_and_far() {
        assert!(SEEN.windows(2).all(|pair| pair[0].2 < pair[1].2), "{:?}", *SEEN);
        assert!(SEEN[0].2 > 0.0099, "{:?}", SEEN[0]);
        assert_eq!(SEEN.len(), TRIED.len());
    }

    #[test]
    fn a_normal_tail_and_few_machines_are_normal() {
        assert_eq!(Tail::surely(110, 10_000), Tail::NORMAL);
        assert_eq!(Tail::holding(180, 10_000), Tail::NORMAL);
        assert_eq!(Tail::holding(3, 20), Tail::NORMAL);
        assert_eq!(Tail::holding(0, 0), Tail::NORMAL);
        assert_eq!(Tail::surely(0, 0), Tail::NORMAL);
        let p = Tail::NORMAL.p(-5.0, 1e9);
        assert!((p / 5.733e-7 - 1.0).abs() < 1e-3, "{p}");
    }

    #[test]
    fn a_heavy_tail_makes_a_distance_less_remarkable() {
        let heavy = Tail::surely(180, 10_000);
        assert!((4.0..8.0).contains(&heavy.df), "{heavy:?}");
        assert!(heavy.p(5.0, 1e9) > 1e-3, "{}", heavy.p(5.0, 1e9));
        assert!((Tail::holding(9_000, 10_000).df - 2.0).abs() < 1e-9);
        assert_eq!(heavy.or_heavier(Tail::NORMAL), heavy);
        assert_eq!(Tail::NORMAL.or_heavier(heavy), heavy);
    }

    #[test]
    fn a_tail_is_as_heavy_as_its_share_says_and_not_a_step_heavier() {
        let slightly = Tail::holding(20_000, 1_000_000);
        assert!(slightly.df > 200.0 && slightly.df.is_finite(), "{slightly:?}");
        let dfs = [205, 220, 260, 340].map(|between| Tail::holding(between, 10_000).df);
        assert!(dfs.is_sorted_by(|a, b| a > b), "{dfs:?}");
    }

    #[test]
    fn a_distance_from_a_small_group_is_a_smaller_quantile() {
        assert!((normal_score(12.706_2, 1.0) - 1.959_96).abs() < 1e-4);
        assert!((normal_score(-3.0, 1e7) + 3.0).abs() < 1e-3);
        assert_eq!(normal_score(1.0, 3.0), 1.0);
        assert!(normal_score(1e9, 1e6).is_finite());
    }
}
