//! A few machines of a group that lie together, apart from all others: a minor mode.
//!
//! [`mod@super::modes`] needs forty values, and ten in a mode. Four of 36 machines with a slower disk are fewer, and each by itself is
//! an ordinary value of a heavy tail, or all of them are named one by one. They are a mode where the gap before them is
//!
//! - at least two percent, and
//! - at least 1.5 standard deviations of the others (more if these are few), and
//! - two thirds of them, at least three, lie within six of those deviations: machines that are each somewhere else are no mode.
//!
//! Beyond a normal value x the distance to the next of k values has about an exponential distribution with rate k x (A. Rényi, "On the
//! theory of order statistics", Acta Mathematica Hungarica 4, 1953): with three of 36 beyond, 1.7 standard deviations come
//! by chance once in some ten thousand times.

use super::robust::Robust;

/// The fewest values of which some are told apart.
const FEWEST: usize = 12;

/// The fewest of a minor mode, and the least share: the last three of a thousand values are often apart.
const FEWEST_OF_MODE: usize = 3;
const LEAST_SHARE: f64 = 0.02;

/// The least gap of logarithms.
const LEAST_GAP: f64 = 0.02;

/// The least gap, in standard deviations of many others.
const GAP: f64 = 1.5;

/// How far apart a minor mode's values are, in standard deviations of the others.
const TOGETHER: f64 = 6.0;

/// The value that parts a minor mode of sorted logarithms from the others. No spread of these is called less than `least`.
pub fn minor_cut(sorted: &[f64], least: f64) -> Option<f64> {
    above(sorted, least).or_else(|| {
        let turned: Vec<f64> = sorted.iter().rev().map(|x| -x).collect();
        above(&turned, least).map(|cut| -cut)
    })
}

/// The same of a minor mode above the others.
fn above(sorted: &[f64], least: f64) -> Option<f64> {
    let n = sorted.len();
    if n < FEWEST {
        return None;
    }
    let fewest = FEWEST_OF_MODE.max((LEAST_SHARE * n as f64).ceil() as usize);
    let gap = |first: usize| sorted[first] - sorted[first - 1];
    let first = (n - n / 4..=n - fewest).max_by(|a, b| gap(*a).total_cmp(&gap(*b)))?;
    let (others, minor) = sorted.split_at(first);
    let sd = Robust::of(others, least)?.sd;
    let needed = GAP * sd * (1.0 + 4.0 / others.len() as f64);
    let near = minor.partition_point(|x| x - minor[0] <= TOGETHER * sd);
    (gap(first) >= needed.max(LEAST_GAP) && near >= FEWEST_OF_MODE && 3 * near >= 2 * minor.len())
        .then(|| sorted[first - 1].midpoint(sorted[first]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Source, column};

    fn found(n: usize, seeds: u64, value: impl Fn(usize, &mut Source) -> f64) -> usize {
        let one = |seed: &u64| {
            let mut s = Source::new(*seed);
            let mut i = 0;
            let mut values = column(n, || {
                i += 1;
                value(i, &mut s)
            });
            values.sort_unstable_by(f64::total_cmp);
            minor_cut(&values, 0.001).is_some()
        };
        (0..seeds).filter(one).count()
    }

    #[test]
    fn a_tenth_that_lies_together_is_found_on_either_side() {
        for apart in [0.15, -0.15, 0.3] {
            let found = found(36, 50, |i, s| 0.02 * s.normal() + if i % 9 == 0 { apart } else { 0.0 });
            assert!(found >= 47, "{apart}: {found} of 50");
        }
    }

    #[test]
    fn one_mode_and_machines_that_are_each_elsewhere_are_not_parted() {
        let heavy = |s: &mut Source| s.normal() / ((0..4).map(|_| s.normal().powi(2)).sum::<f64>() / 4.0).sqrt();
        for n in [12, 36, 150, 1000] {
            let normal = found(n, 200, |_, s| 0.02 * s.normal());
            let heavy = found(n, 200, |_, s| 0.02 * heavy(s));
            assert!(normal <= 2 && heavy <= 6, "{n}: {normal} and {heavy} of 200");
        }
        let elsewhere = found(36, 20, |i, s| {
            0.02 * s.normal() + if i % 9 == 0 { i as f64 } else { 0.0 }
        });
        assert_eq!(elsewhere, 0);
        assert_eq!(minor_cut(&[0.0, 0.0, 1.0, 1.0, 1.0], 0.001), None);
        assert_eq!(minor_cut(&[1.0; 40], 0.001), None);
    }
}
