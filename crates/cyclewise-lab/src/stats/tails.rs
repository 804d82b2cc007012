//! How heavy the tail of a row's machines is: the Student distribution whose tail it has.
//!
//! A p of 10⁻⁶ is far outside what the machines of one group show, so it rests on the shape that is assumed out there. Machines
//! on which something else runs now and then have more than a normal distribution's share at 2.5 and 4 standard deviations, and
//! then at 5 and 6 many times its share: with normal tails most of the machines named would be ordinary.
//!
//! On each side of the centre the machines between [`NEAR`] and [`FAR`] standard deviations are counted, over all groups of a row. If
//! they are more than a normal distribution has there, by more than two standard errors of the count, p is that of the
//! Student distribution that has as many less one standard error. (At one standard error a sixth of all normal rows would be
//! taken for heavy ones, and machines at 5 standard deviations be missed there.) Those beyond [`FAR`] are not counted: they may be the outliers looked for.
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
pub(crate) const NEAR: f64 = 2.326_347_874_040_841;

/// Where outliers may begin.
pub(crate) const FAR: f64 = 4.0;

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
pub(crate) struct Tail {
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
    pub(crate) const NORMAL: Self = Self {
        df: f64::INFINITY,
        unit: 1.0,
    };

    /// Of a side that has `between` near and far, of `all` on both sides that are not beyond far.
    pub(crate) fn of(between: usize, all: usize) -> Self {
        let normal = Normal::standard();
        let expected = (normal.sf(NEAR) - normal.sf(FAR)) * all as f64;
        let error = (between as f64).sqrt();
        if between < FEWEST || between as f64 - SURE * error <= expected {
            return Self::NORMAL;
        }
        let at_least = between as f64 - error;
        let share = at_least / all as f64;
        let found = SEEN.iter().find(|seen| seen.2 >= share).or(SEEN.last());
        found.map_or(Self::NORMAL, |&(df, unit, _)| Self { df, unit })
    }

    /// Two-sided p of a distance of `sigmas` from a group of `df` degrees of freedom.
    pub(crate) fn p(&self, sigmas: f64, df: f64) -> f64 {
        let df = 1.0 / (1.0 / self.df + 1.0 / df);
        StudentsT::new(0.0, 1.0, df).map_or(1.0, |t| (2.0 * t.sf(sigmas.abs() * self.unit)).clamp(0.0, 1.0))
    }
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
        assert_eq!(Tail::of(100, 10_000), Tail::NORMAL);
        assert_eq!(Tail::of(3, 20), Tail::NORMAL);
        assert_eq!(Tail::of(0, 0), Tail::NORMAL);
        let p = Tail::NORMAL.p(-5.0, 1e9);
        assert!((p / 5.733e-7 - 1.0).abs() < 1e-3, "{p}");
    }

    #[test]
    fn a_heavy_tail_makes_a_distance_less_remarkable() {
        let heavy = Tail::of(180, 10_000);
        assert!((4.0..8.0).contains(&heavy.df), "{heavy:?}");
        assert!(heavy.p(5.0, 1e9) > 1e-3, "{}", heavy.p(5.0, 1e9));
        assert_eq!(Tail::of(9_000, 10_000).df, 2.0);
    }
}
