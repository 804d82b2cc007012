//! The verdict on means, which `--test welch` asks for: faster, slower, or undecided.
//!
//! A difference is claimed only if four tests agree, each blind to something that another detects:
//!
//! 1. Welch's p after Holm's correction is under [`ALPHA`]: not chance, over all the record's comparisons.
//! 2. The rank test's p is under [`ALPHA`]: not a few outliers.
//! 3. The ratio's bootstrap interval excludes 1, on the side of the difference: not a disturbance that the pairing of
//!    rounds removes.
//! 4. The difference is larger than the noise floor: more than the same thing measured twice.
//!
//! A figure that is missing or not a number counts against the claim. So does a missing control: without it the
//! apparatus's own effect is unknown.

use serde::{Deserialize, Serialize};

/// The result of a comparison, about its `a`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// `a` is faster than `b`.
    Faster,
    /// `a` is slower than `b`.
    Slower,
    /// `a` and `b` are the same within the stated margin.
    Same,
    /// The data neither show a difference nor exclude one.
    #[default]
    #[serde(alias = "indistinguishable")]
    Undecided,
    /// There can be no verdict; the reason says why.
    None,
    /// `a` is faster in one state of the neighbour and slower in another.
    Depends,
}

impl Verdict {
    /// The verdict's name in the JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Faster => "faster",
            Verdict::Slower => "slower",
            Verdict::Same => "same",
            Verdict::Undecided => "undecided",
            Verdict::None => "none",
            Verdict::Depends => "depends",
        }
    }

    /// The verdict in words.
    pub fn in_words(self) -> &'static str {
        match self {
            Verdict::None => "no verdict",
            Verdict::Depends => "depends on the neighbour",
            other => other.as_str(),
        }
    }

    /// Whether one is said to be better: faster or slower.
    pub fn is_claim(self) -> bool {
        matches!(self, Verdict::Faster | Verdict::Slower)
    }
}

/// The accepted chance of a false claim by each test.
///
/// The customary 5 %. Because all must agree, and because of the floor, the verdict's own false-alarm rate is under 1
/// %, which the simulations in `tests` check.
pub const ALPHA: f64 = 0.05;

/// The verdict on `a`, compared with a reference.
///
/// `difference` is mean(a) − mean(reference), `floor` the control's share of the mean (`None`: no control, which
/// returns [`Verdict::Undecided`]). A p of exactly 0.05, a difference of exactly the floor and an interval
/// that touches 1 are not enough.
pub fn verdict(
    difference: f64,
    reference_mean: f64,
    p_holm: f64,
    p_rank: f64,
    ratio_ci95: [f64; 2],
    floor: Option<f64>,
    more_is_faster: bool,
) -> Verdict {
    let share = difference / reference_mean;
    let [lo, hi] = ratio_ci95;
    // Each line is false where its figure is NaN.
    let beyond_chance = p_holm < ALPHA && p_rank < ALPHA;
    let beyond_one = if share > 0.0 {
        lo > 1.0 && hi >= lo
    } else {
        hi < 1.0 && lo <= hi
    };
    let beyond_noise = share.is_finite() && floor.is_some_and(|floor| share.abs() > floor);
    if !(beyond_chance && beyond_one && beyond_noise) {
        return Verdict::Undecided;
    }
    if (difference > 0.0) == more_is_faster {
        Verdict::Faster
    } else {
        Verdict::Slower
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{Faster, Slower, Undecided};

    /// Every witness agrees that `a` takes 2 % less.
    fn less(p_holm: f64, p_rank: f64, ci: [f64; 2], floor: Option<f64>) -> Verdict {
        verdict(-2.0, 100.0, p_holm, p_rank, ci, floor, false)
    }

    #[test]
    fn the_direction_follows_the_unit() {
        let (below, above) = ([0.97, 0.99], [1.01, 1.03]);
        assert_eq!(verdict(-2.0, 100.0, 0.01, 0.01, below, Some(0.01), false), Faster);
        assert_eq!(verdict(2.0, 100.0, 0.01, 0.01, above, Some(0.01), false), Slower);
        assert_eq!(verdict(-2.0, 100.0, 0.01, 0.01, below, Some(0.01), true), Slower);
        assert_eq!(verdict(2.0, 100.0, 0.01, 0.01, above, Some(0.01), true), Faster);
    }

    #[test]
    fn each_witness_alone_can_refuse() {
        let ci = [0.97, 0.99];
        assert_eq!(less(0.049, 0.049, ci, Some(0.0199)), Faster);
        assert_eq!(less(0.05, 0.01, ci, Some(0.01)), Undecided);
        assert_eq!(less(0.01, 0.05, ci, Some(0.01)), Undecided);
        assert_eq!(less(0.01, 0.01, [0.97, 1.0], Some(0.01)), Undecided);
        assert_eq!(less(0.01, 0.01, ci, Some(0.02)), Undecided);
        assert_eq!(less(0.01, 0.01, ci, None), Undecided);
    }

    #[test]
    fn an_interval_on_the_wrong_side_refuses() {
        assert_eq!(less(0.01, 0.01, [1.01, 1.03], Some(0.01)), Undecided);
    }

    #[test]
    fn what_is_not_a_number_refuses() {
        let ci = [0.97, 0.99];
        assert_eq!(less(f64::NAN, 0.01, ci, Some(0.01)), Undecided);
        assert_eq!(less(0.01, f64::NAN, ci, Some(0.01)), Undecided);
        assert_eq!(less(0.01, 0.01, [f64::NAN, 0.99], Some(0.01)), Undecided);
        assert_eq!(less(0.01, 0.01, [0.97, f64::NAN], Some(0.01)), Undecided);
        assert_eq!(less(0.01, 0.01, ci, Some(f64::NAN)), Undecided);
        for (d, mean) in [(f64::NAN, 1.0), (-1.0, f64::NAN), (-1.0, 0.0), (0.0, 1.0), (0.0, 0.0)] {
            assert_eq!(verdict(d, mean, 0.01, 0.01, ci, Some(0.01), false), Undecided);
        }
    }
}
