//! Several values around which a column lies: modes, told apart by a valley in the density.
//!
//! The distance from a value to the k-th above it (a spacing) measures the density there: short in a mode, long in a
//! valley. The measure adapts to the place, so that a narrow mode beside a broad one needs no bandwidth, and the long tail
//! of one mode, which thins out and never thickens again, is no mode. With s the longer of the shortest spacings on both
//! sides, two modes are told apart
//!
//! - by a gap without any value that is at least ln n times as long as the mean distance s / k of neighbours in the less
//!   dense mode: of n values around one mode the longest distance is about ln n times the mean;
//! - by a spacing that is at least twice s: a valley that is not empty.
//!
//! In both cases by more than chance: a spacing has a relative standard error of 1/√k, the ratio of two √(2/k), and three
//! of those are added to the logarithm.
//!
//! Conservative on purpose: a mode holds a least share of the values, modes without two percent between them are one, and
//! fewer than [`FEWEST`] values have none.
//!
//! # References
//! - D. O. Loftsgaarden, C. P. Quesenberry, "A Nonparametric Estimate of a Multivariate Density Function", Annals of
//!   Mathematical Statistics 36(3), 1965: density from the distance to the k-th neighbour.
//! - R. Pyke, "Spacings", Journal of the Royal Statistical Society B 27(3), 1965: the distribution of spacings.
//! - J. A. Hartigan, P. M. Hartigan, "The Dip Test of Unimodality", Annals of Statistics 13(1), 1985: the test that this
//!   rule is more cautious than.

use super::median::middle;
use serde::{Deserialize, Serialize};

/// One of several values around which samples lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Mode {
    /// The median of the mode's samples.
    pub value: f64,
    /// Its share of the samples.
    pub share: f64,
}

/// The least share of the values that is called a mode of a row.
pub const LEAST_SHARE: f64 = 0.05;

/// The fewest values of which modes are told apart.
const FEWEST: usize = 40;

/// The fewest values in a spacing, and in a mode.
const FEWEST_NEIGHBOURS: usize = 10;

/// The most: enough for a standard error of 10 %, and few enough to see the inside of a small mode among many values.
const MOST_NEIGHBOURS: usize = 100;

/// The least distance between two modes, as a share of the median.
const LEAST_GAP: f64 = 0.02;

/// No spacing counts as shorter than this share of the median: below it, batches differ by the timer's resolution.
const RESOLUTION: f64 = 0.005;

/// The most modes that are told apart: more would be noise.
const MOST: usize = 4;

/// The values that part the modes of `values`, ascending; empty for one mode. A mode holds at least `least_share` of them.
pub fn cuts(values: &[f64], least_share: f64) -> Vec<f64> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|x| x.is_finite()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let least = ((sorted.len() as f64 * least_share) as usize).max(FEWEST_NEIGHBOURS);
    let mut found = Vec::new();
    if sorted.len() >= FEWEST {
        part(&sorted, least, &mut found);
    }
    found.sort_unstable_by(f64::total_cmp);
    found
}

/// The modes of `values` by value; empty if there is one.
pub fn modes(values: &[f64]) -> Vec<Mode> {
    let cuts = cuts(values, LEAST_SHARE);
    if cuts.is_empty() {
        return Vec::new();
    }
    let mut sorted: Vec<f64> = values.iter().copied().filter(|x| x.is_finite()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let mut ends: Vec<usize> = cuts.iter().map(|cut| sorted.partition_point(|x| x <= cut)).collect();
    ends.push(sorted.len());
    let mut start = 0;
    ends.into_iter()
        .filter_map(|end| {
            let part = &sorted[start..end];
            start = end;
            Some(Mode {
                value: middle(part)?,
                share: part.len() as f64 / sorted.len() as f64,
            })
        })
        .collect()
}

/// Finds the deepest valley of `sorted`, then those of the parts. A mode holds at least `least` values.
fn part(sorted: &[f64], least: usize, found: &mut Vec<f64>) {
    if found.len() + 1 >= MOST {
        return;
    }
    let Some(first_above) = valley(sorted, least) else {
        return;
    };
    found.push(sorted[first_above - 1].midpoint(sorted[first_above]));
    part(&sorted[..first_above], least, found);
    part(&sorted[first_above..], least, found);
}

/// The index of the first value above the deepest valley, if one is deep enough.
fn valley(sorted: &[f64], least: usize) -> Option<usize> {
    let (n, k) = (sorted.len(), least.min(MOST_NEIGHBOURS));
    let scale = middle(sorted)?.abs();
    if n < 2 * least + 1 || scale <= 0.0 {
        return None;
    }
    let spacings: Vec<f64> = sorted
        .windows(k + 1)
        .map(|w| (w[k] - w[0]).max(RESOLUTION * scale))
        .collect();
    // The shortest spacing that begins at or before an index, and at or after it.
    let running = |shortest: &mut f64, s: &f64| {
        *shortest = shortest.min(*s);
        Some(*shortest)
    };
    let below: Vec<f64> = spacings.iter().scan(f64::INFINITY, running).collect();
    let mut above: Vec<f64> = spacings.iter().rev().scan(f64::INFINITY, running).collect();
    above.reverse();
    let chance = (3.0 * (2.0 / k as f64).sqrt()).exp();
    let gap = |i: usize| sorted[i] - sorted[i - 1];
    let longest = |a: &(usize, f64), b: &(usize, f64)| a.1.total_cmp(&b.1);

    // An empty gap between i − 1 and i, with whole spacings on both sides.
    let emptiness = |i: usize| gap(i) * k as f64 / below[i - 1 - k].max(above[i]);
    let empty = (least.max(k + 1)..=(n - least).min(n - 1 - k)).filter(|&i| gap(i) >= LEAST_GAP * scale);
    if let Some((i, depth)) = empty.map(|i| (i, emptiness(i))).max_by(longest)
        && depth >= (n as f64).ln() * chance
    {
        return Some(i);
    }
    // A thin place from i to i + k.
    let thinness = |i: usize| spacings[i] / below[i - k].max(above[i + k]);
    let thin = least.max(k)..(n - least).min(spacings.len()).saturating_sub(k);
    let (i, depth) = thin.map(|i| (i, thinness(i))).max_by(longest)?;
    (depth >= 2.0 * chance).then_some(())?;
    (i + 1..=i + k).max_by(|&a, &b| gap(a).total_cmp(&gap(b)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{SD, Source, column};

    #[test]
    fn two_modes_are_shown_with_their_shares() {
        let mut s = Source::new(1);
        let values: Vec<f64> = (0..500)
            .map(|i| if i % 25 < 13 { 1.5 } else { 16.1 } + 0.02 * s.normal())
            .collect();
        let modes = modes(&values);
        let rounded: Vec<String> = modes
            .iter()
            .map(|m| format!("{:.1} ({:.0} %)", m.value, 100.0 * m.share))
            .collect();
        assert_eq!(rounded, ["1.5 (52 %)", "16.1 (48 %)"]);
    }

    #[test]
    fn a_narrow_mode_beside_a_broad_one_is_told_apart_either_way() {
        for quiet_share in [0.06, 0.5, 0.94] {
            let mut s = Source::new(2);
            let values = column(1000, || {
                if s.even() < quiet_share {
                    0.78 + 0.001 * s.normal()
                } else {
                    0.9 + 0.4 * s.even()
                }
            });
            let cuts = cuts(&values, 0.02);
            assert_eq!(cuts.len(), 1, "{quiet_share}: {cuts:?}");
            assert!((0.78..0.91).contains(&cuts[0]), "{quiet_share}: {cuts:?}");
        }
    }

    #[test]
    fn one_mode_is_not_parted_whatever_its_shape() {
        let mut found = 0;
        for seed in 0..200 {
            let mut s = Source::new(seed);
            let shapes: [Vec<f64>; 5] = [
                column(400, || s.gaussian(SD)),
                column(400, || s.gaussian(20.0 * SD)),
                column(400, || s.spiky(SD)),
                column(400, || 100.0 + s.even()),
                // A heavy tail: the reciprocal of a uniform number.
                column(400, || 100.0 / s.even()),
            ];
            found += shapes.iter().filter(|shape| !modes(shape).is_empty()).count();
        }
        assert!(found <= 10, "{found} of 1000 columns of one mode were parted");
    }

    #[test]
    fn a_mode_of_three_percent_and_too_few_values_are_not_shown() {
        let far = |n: usize, every: usize| {
            (0..n)
                .map(|i| if i % every == 0 { 20.0 } else { 10.0 })
                .collect::<Vec<_>>()
        };
        assert!(modes(&far(1000, 33)).is_empty());
        assert_eq!(modes(&far(1000, 10)).len(), 2);
        assert!(modes(&far(30, 3)).is_empty());
        assert!(modes(&[]).is_empty());
        assert!(modes(&[0.0; 100]).is_empty());
        assert!(modes(&[f64::NAN; 100]).is_empty());
    }

    #[test]
    fn modes_closer_than_the_resolution_are_one() {
        let close: Vec<f64> = (0..400).map(|i| if i % 2 == 0 { 10.0 } else { 10.1 }).collect();
        assert!(modes(&close).is_empty());
    }
}
