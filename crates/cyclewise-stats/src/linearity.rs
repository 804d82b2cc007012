//! Whether a row's time is linear in its copies, without which its slope is the cost of nothing.
//!
//! A loop of U copies at a constant cost c takes T(U) = overhead + U·c, where the overhead is not negative. So T(2U) cannot be
//! more than 2 T(U), nor T(4U) more than 2 T(2U), and the slopes from U to 2U and from 2U to 4U are equal. A row for which
//! one of these fails has no constant cost: a predictor or a buffer held U copies and not 2U, and the slope shows the
//! transition.
//!
//! # What counts as a failure
//! The median of the excess over samples is beyond its 99 % interval (the samples' dependence is in it), and beyond a
//! margin. The margin is [`MARGIN`] of the larger slope: a slope that bends by so much is uncertain by half of it, since the
//! row's value is the slope over all three lengths. It is never below [`RESOLUTION`] of the time of a copy, below which
//! batches are not exact. Real rows bend by a few tenths of a percent; the costs that this rule is for bend by factors.
//!
//! # References
//! A. Abel, J. Reineke, "nanoBench", ISPASS 2020, section III-C: the slope, and that it assumes linear cost.

use super::median::Median;
use super::{BetweenRuns, states};
use serde::{Deserialize, Serialize};

/// Whether a row's time is linear in its copies.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Linearity {
    /// Copies in one iteration of each loop, or iterations for a row without copies: U, 2U, 4U.
    pub copies: [f64; 3],
    /// The median time of each loop, divided by its copies: loop and stamps included.
    pub per_copy: [f64; 3],
    /// The slope from U to 2U and from 2U to 4U, per copy.
    pub slopes: [f64; 2],
    /// The result; `None` if there are too few samples.
    pub linear: Option<bool>,
    /// Why the row is not linear, or why that is unknown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// [`Linearity::per_copy`] over several runs; empty if the record has one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub between: Vec<BetweenRuns>,
}

/// The bend of the slope that makes a row not linear.
const MARGIN: f64 = 0.05;

/// A batch's time is exact to 0.1 %, and its median over samples to less; ten times that is certainly not noise.
const RESOLUTION: f64 = 0.01;

/// Judges the loops of U, 2U and 4U `copies`: the ticks of each loop in each sample, over `iterations` of it.
///
/// `None` if there are no samples, or no copies.
pub fn linearity(copies: [f64; 3], iterations: u64, ticks: [&[f64]; 3]) -> Option<Linearity> {
    let n = ticks.iter().map(|t| t.len()).min()?;
    let per = |loops: usize, i: usize| ticks[loops][i] / iterations as f64;
    let slope = |from: usize, i: usize| (per(from + 1, i) - per(from, i)) / (copies[from + 1] - copies[from]);
    let median = |of: &dyn Fn(usize) -> f64| Median::of_series(&(0..n).map(of).collect::<Vec<f64>>());
    let mut per_copy = [0.0; 3];
    for (loops, figure) in per_copy.iter_mut().enumerate() {
        *figure = states::median((0..n).map(|i| per(loops, i) / copies[loops])).filter(|x| x.is_finite())?;
    }
    let slopes = [median(&|i| slope(0, i))?, median(&|i| slope(1, i))?];
    let margin = (MARGIN * slopes[0].median.abs().max(slopes[1].median.abs())).max(RESOLUTION * per_copy[2]);
    // Per copy: how much more the loop of twice the copies takes than twice the loop of once.
    let excess = [
        median(&|i| (per(1, i) - 2.0 * per(0, i)) / copies[1])?,
        median(&|i| (per(2, i) - 2.0 * per(1, i)) / copies[2])?,
    ];
    let bend = median(&|i| slope(1, i) - slope(0, i))?;
    let mut linear = Some(true);
    let mut why = String::new();
    if bend.interval(0.99)[0].is_none() {
        linear = None;
        why = format!("too few samples to tell: {n}");
    }
    for (at, excess) in excess.iter().enumerate() {
        if excess.interval(0.99)[0].is_some_and(|low| low > 0.0) && excess.median > margin && linear == Some(true) {
            linear = Some(false);
            why = format!(
                "{} copies take more than twice the time of {}: {:.3} and {:.3} ticks a copy",
                copies[at + 1],
                copies[at],
                per_copy[at + 1],
                per_copy[at]
            );
        }
    }
    let beyond_noise = |[low, high]: [Option<f64>; 2]| low.is_some_and(|x| x > 0.0) || high.is_some_and(|x| x < 0.0);
    if linear == Some(true) && beyond_noise(bend.interval(0.99)) && bend.median.abs() > margin {
        linear = Some(false);
        why = format!(
            "a copy adds {:.3} ticks from {} to {} copies and {:.3} from {} to {}",
            slopes[0].median, copies[0], copies[1], slopes[1].median, copies[1], copies[2]
        );
    }
    Some(Linearity {
        copies,
        per_copy,
        slopes: [slopes[0].median, slopes[1].median],
        linear,
        why,
        between: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Source;
    use crate::tests::rates::rate;

    /// Samples of three loops whose times an iteration are `times`, with a relative noise.
    fn judge(copies: [f64; 3], times: [f64; 3], noise: f64, n: usize, s: &mut Source) -> Linearity {
        let column = |time: f64, s: &mut Source| -> Vec<f64> {
            (0..n)
                .map(|_| 1024.0 * time * (1.0 + noise * s.normal()) + 40.0)
                .collect()
        };
        let ticks = times.map(|time| column(time, s));
        linearity(copies, 1024, [&ticks[0], &ticks[1], &ticks[2]]).unwrap()
    }

    #[test]
    fn a_fast_path_that_ends_between_two_lengths_is_not_linear() {
        // `inc [m]; dec [m]; jz`: T(4)/4 = 1.76 and T(8)/8 = 9.69 ticks, of which a slope says 17.6.
        let times = [4.0 * 1.76, 8.0 * 9.69, 16.0 * 13.0];
        let l = judge([4.0, 8.0, 16.0], times, 0.005, 100, &mut Source::new(1));
        assert_eq!(l.linear, Some(false));
        assert!(l.why.contains("more than twice") && l.why.contains("9.6"), "{}", l.why);
        assert!(
            (l.per_copy[0] - 1.76).abs() < 0.05 && (l.per_copy[1] - 9.69).abs() < 0.05,
            "{l:?}"
        );
        assert!((l.slopes[0] - 17.6).abs() < 0.2, "{l:?}");
        // It ends between the second and the third.
        let times = [4.0 * 1.56, 8.0 * 1.56, 16.0 * 9.0];
        assert_eq!(
            judge([4.0, 8.0, 16.0], times, 0.005, 100, &mut Source::new(2)).linear,
            Some(false)
        );
    }

    #[test]
    fn a_slope_that_bends_downwards_is_not_linear() {
        // 64 copies fit where 32 do not pay: never T(2U) > 2 T(U).
        let times = [100.0, 180.0, 220.0];
        let l = judge([16.0, 32.0, 64.0], times, 0.002, 100, &mut Source::new(3));
        assert_eq!(l.linear, Some(false));
        assert!(l.why.contains("a copy adds 5.0"), "{}", l.why);
    }

    #[test]
    fn constant_costs_are_linear_whatever_the_overhead_and_noise() {
        let wrong = rate(300, 4, |s| {
            let (cost, overhead, noise) = (0.1 + 20.0 * s.even(), 5.0 * s.even(), 0.03 * s.even());
            let times = [16.0, 32.0, 64.0].map(|copies| overhead + cost * copies);
            judge([16.0, 32.0, 64.0], times, noise, 60, s).linear != Some(true)
        });
        assert!(wrong <= 0.01, "{wrong}");
        // A bend of 0.3 % is found with little noise, and is no reason to withhold a figure.
        let bent = judge(
            [16.0, 32.0, 64.0],
            [16.0, 32.05, 64.3],
            0.0001,
            500,
            &mut Source::new(5),
        );
        assert_eq!(bent.linear, Some(true));
    }

    #[test]
    fn noise_alone_is_not_called_a_bend() {
        // One sample in three is disturbed by half: the medians stay.
        let mut s = Source::new(6);
        let disturbed = |time: f64, s: &mut Source| -> Vec<f64> {
            (0..200)
                .map(|_| time * if s.even() < 0.33 { 1.5 } else { 1.0 })
                .collect()
        };
        let ticks = [1000.0, 2000.0, 4000.0].map(|time| disturbed(time, &mut s));
        let l = linearity([4.0, 8.0, 16.0], 10, [&ticks[0], &ticks[1], &ticks[2]]).unwrap();
        assert_eq!(l.linear, Some(true), "{}", l.why);
    }

    #[test]
    fn too_few_samples_do_not_tell() {
        let l = judge([4.0, 8.0, 16.0], [4.0, 80.0, 160.0], 0.001, 5, &mut Source::new(7));
        assert_eq!(l.linear, None);
        assert!(l.why.contains("too few"), "{}", l.why);
        assert_eq!(linearity([0.0; 3], 10, [&[1.0], &[1.0], &[1.0]]), None);
        assert_eq!(linearity([1.0, 2.0, 4.0], 10, [&[], &[], &[]]), None);
    }
}
