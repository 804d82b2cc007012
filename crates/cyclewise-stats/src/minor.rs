//! A few machines of a group that lie together, apart from all others: a minor mode.
//!
//! [`mod@super::modes`] needs forty values, and ten in a mode. Four of 36 machines with a slower disk are fewer, and each by itself is
//! an ordinary value of a heavy tail, or all of them are named one by one. They are a mode where the gap before them is
//!
//! - at least two percent, and
//! - at least 1.5 standard deviations of the others (more if these are few), and
//! - two thirds of them, at least three, lie within six of those deviations: machines that are each somewhere else are no mode.
//!
//! Those within six deviations are its members. A value beyond them belongs to no mode.
//!
//! Beyond a normal value x the distance to the next of k values has about an exponential distribution with rate k x (A. Rényi, "On the
//! theory of order statistics", Acta Mathematica Hungarica 4, 1953): with three of 36 beyond, 1.7 standard deviations come
//! by chance once in some ten thousand times.

use super::robust::Robust;
use std::ops::Range;

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

/// The longest gaps that are tried.
const TRIED: usize = 8;

/// The members of a minor mode of sorted logarithms, as indices. No spread of the others is called less than `least`.
pub fn minor_mode(sorted: &[f64], least: f64) -> Option<Range<usize>> {
    above(sorted, least).or_else(|| {
        let turned: Vec<f64> = sorted.iter().rev().map(|x| -x).collect();
        let members = above(&turned, least)?;
        Some(sorted.len() - members.end..sorted.len() - members.start)
    })
}

/// The same of a minor mode above the others.
fn above(sorted: &[f64], least: f64) -> Option<Range<usize>> {
    let n = sorted.len();
    if n < FEWEST {
        return None;
    }
    let fewest = FEWEST_OF_MODE.max((LEAST_SHARE * n as f64).ceil() as usize);
    let gap = |first: usize| sorted[first] - sorted[first - 1];
    let mut tried: Vec<usize> = (n - n / 4..=n - fewest)
        .filter(|first| gap(*first) >= LEAST_GAP)
        .collect();
    tried.sort_by(|a, b| gap(*b).total_cmp(&gap(*a)));
    tried.into_iter().take(TRIED).find_map(|first| {
        let (others, beyond) = sorted.split_at(first);
        let sd = Robust::of_sorted(others, least)?.sd;
        let members = beyond.partition_point(|x| x - beyond[0] <= TOGETHER * sd);
        let is_apart = gap(first) >= GAP * sd * (1.0 + 4.0 / others.len() as f64);
        (is_apart && members >= FEWEST_OF_MODE && 3 * members >= 2 * beyond.len()).then_some(first..first + members)
    })
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
            minor_mode(&values, 0.001).is_some()
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
        assert_eq!(minor_mode(&[0.0, 0.0, 1.0, 1.0, 1.0], 0.001), None);
        assert_eq!(minor_mode(&[1.0; 40], 0.001), None);
    }
    #[test]
    fn a_machine_beyond_the_mode_is_no_member_and_values_without_one_place_are_no_mode() {
        let mut values: Vec<f64> = (0..56).map(|i| 0.0005 * f64::from(i % 14)).collect();
        values.sort_unstable_by(f64::total_cmp);
        let with = |far: &[f64]| minor_mode(&[values.as_slice(), far].concat(), 0.001);
        assert_eq!(with(&[0.095, 0.096, 0.097, 0.69]), Some(56..59));
        assert_eq!(with(&[0.1, 0.26, 0.47, 0.69]), None);
        let below: Vec<f64> = [-0.69, -0.097, -0.096, -0.095]
            .into_iter()
            .chain(values.clone())
            .collect();
        assert_eq!(minor_mode(&below, 0.001), Some(1..4));
    }
}
