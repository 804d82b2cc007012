//! How far the published figure may be from a prediction: a band, from held-out rows of machines of the same family.
//!
//! # Method
//! Split conformal prediction of machines: a new one is one more of those that were held out. So a band of
//! fewer than 19 is as wide as all of their rows.
//!
//! # References
//! J. Lei, M. G'Sell, A. Rinaldo, R. Tibshirani and L. Wasserman, "Distribution-free predictive inference for regression", 2018.

use super::Group;
use super::data::PublishedRow;
use super::split::LEAST_MACHINES;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The share of a new machine's rows inside a band that enough machines were held out for; each has the same weight.
pub const SHARE: f64 = 0.9;

/// A band wider than this ratio of its ends says nothing: a factor of two either way from its middle.
pub const MOST_SPREAD: f64 = 4.0;

/// The factors between a prediction and the published figure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Band {
    /// The group of rows.
    pub group: Group,
    /// The published figure is at least this many times the prediction.
    pub low: f64,
    /// And at most this many times.
    pub high: f64,
    /// Held-out machines with rows of the group.
    pub machines: u32,
    /// Held-out rows.
    pub rows: u32,
    /// The median error of held-out rows, with the same weights.
    pub median_error: f64,
}

impl Band {
    /// Whether it is narrow enough to predict with.
    pub fn is_narrow(&self) -> bool {
        self.high / self.low <= MOST_SPREAD
    }

    /// Whether held-out rows were predicted as well as is asked of their kind.
    pub fn is_exact(&self) -> bool {
        self.median_error <= self.group.pattern.kind().asked()
    }

    /// Whether it may be predicted with.
    pub fn is_good(&self) -> bool {
        self.is_narrow() && self.is_exact()
    }

    /// The figures that it allows for a prediction.
    pub fn around(&self, predicted: f64) -> (f64, f64) {
        (predicted * self.low, predicted * self.high)
    }
}

/// A contended row of a machine that the laws were learned without.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeldOutRow {
    /// The machine's number.
    pub machine: usize,
    /// Its group.
    pub group: Group,
    /// The row.
    pub row: PublishedRow,
    /// The prediction.
    pub predicted: f64,
}

impl HeldOutRow {
    /// Published by predicted.
    fn ratio(&self) -> f64 {
        self.row.ns / self.predicted
    }
}

/// The band of each group that enough machines have rows of.
pub(super) fn bands(held_out: &[HeldOutRow]) -> Vec<Band> {
    let band = |group: &Group| {
        let rows: Vec<&HeldOutRow> = held_out.iter().filter(|row| row.group == *group).collect();
        let of = |machine: usize| rows.iter().filter(|row| row.machine == machine).count();
        let machines: BTreeSet<usize> = rows.iter().map(|row| row.machine).collect();
        if machines.len() < LEAST_MACHINES {
            return None;
        }
        let weight = |row: &HeldOutRow| 1.0 / (of(row.machine) * machines.len()) as f64;
        let ratios: Vec<(f64, f64)> = rows.iter().map(|row| (row.ratio(), weight(row))).collect();
        let errors: Vec<(f64, f64)> = rows
            .iter()
            .map(|row| ((1.0 / row.ratio() - 1.0).abs(), weight(row)))
            .collect();
        // The predicted machine is one more, of which nothing is known: its share of the weight is left out at either end before any held-out one's.
        let held_out = machines.len() as f64;
        let tail = ((1.0 - SHARE) / 2.0 * (held_out + 1.0) - 1.0).max(0.0) / held_out;
        Some(Band {
            group: *group,
            low: quantile(&ratios, tail),
            high: quantile(&ratios, 1.0 - tail),
            machines: u32::try_from(machines.len()).unwrap_or(u32::MAX),
            rows: u32::try_from(rows.len()).unwrap_or(u32::MAX),
            median_error: middle(&errors),
        })
    };
    let groups: BTreeSet<Group> = held_out.iter().map(|row| row.group).collect();
    groups.iter().filter_map(band).collect()
}

/// The weighted median: where the weights are halves of two values, their mean.
fn middle(values: &[(f64, f64)]) -> f64 {
    let negated: Vec<(f64, f64)> = values.iter().map(|(value, weight)| (-value, *weight)).collect();
    f64::midpoint(quantile(values, 0.5), -quantile(&negated, 0.5))
}

/// The weighted quantile: the least value whose weight and that of all smaller ones reach the share.
fn quantile(values: &[(f64, f64)], share: f64) -> f64 {
    // Sums of weights such as 1/3 miss the share by rounding.
    const ROUNDING: f64 = 1e-9;
    let mut sorted = values.to_vec();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut sum = 0.0;
    for (value, weight) in &sorted {
        sum += weight;
        if sum >= share - ROUNDING {
            return *value;
        }
    }
    sorted.last().map_or(f64::NAN, |(value, _)| *value)
}

#[cfg(test)]
mod tests {
    use super::super::{Pattern, Reach};
    use super::*;
    use crate::{Relax, Workload};

    const GROUP: Group = Group {
        pattern: Pattern::QueueLock,
        reach: Reach::Socket,
    };

    /// Held-out rows of machines, each with its ratio.
    fn rows(of: &[(usize, f64)]) -> Vec<HeldOutRow> {
        let row = |(machine, ratio): &(usize, f64)| HeldOutRow {
            machine: *machine,
            group: GROUP,
            row: PublishedRow {
                workload: Workload::LockMcs,
                relax: Relax::None,
                threads: 2,
                counter: false,
                critical_ns: 0.0,
                parallel_ns: 0.0,
                ns: *ratio,
            },
            predicted: 1.0,
        };
        of.iter().map(row).collect()
    }

    #[test]
    fn a_machine_with_many_rows_does_not_outweigh_one_with_few() {
        // Nineteen good rows of one machine, and one bad row of another: half of the weight is bad.
        let mut held_out = rows(&[(0, 1.0); 19]);
        held_out.extend(rows(&[(1, 3.0)]));
        let band = bands(&held_out)[0];
        assert!(
            (band.low - 1.0).abs() < 1e-12 && (band.high - 3.0).abs() < 1e-12,
            "{band:?}"
        );
        assert_eq!((band.machines, band.rows), (2, 20));
        assert!(band.is_narrow());
    }

    #[test]
    fn nine_of_ten_equal_machines_are_inside_and_of_few_all() {
        let inside = |machines: u32| {
            let ratios: Vec<(usize, f64)> = (0..machines).map(|i| (i as usize, 1.0 + f64::from(i) / 10.0)).collect();
            let band = bands(&rows(&ratios))[0];
            let inside = ratios.iter().filter(|(_, r)| (band.low..=band.high).contains(r));
            inside.count()
        };
        assert_eq!((inside(7), inside(19)), (7, 19));
        assert!((91..=93).contains(&inside(100)), "{} of 100", inside(100));
    }

    #[test]
    fn one_machine_gives_no_band_and_a_wide_one_predicts_nothing() {
        assert_eq!(bands(&rows(&[(0, 1.0), (0, 1.1)])), []);
        let wide = bands(&rows(&[(0, 0.4), (1, 2.0)]))[0];
        assert!(!wide.is_narrow());
    }

    #[test]
    fn of_two_machines_the_better_one_does_not_decide() {
        let band = bands(&rows(&[(0, 1.0), (1, 3.0)]))[0];
        // Errors of 0 and 67 %.
        assert!((band.median_error - 1.0 / 3.0).abs() < 1e-12, "{band:?}");
        assert!(band.is_narrow() && !band.is_exact() && !band.is_good());
        let exact = bands(&rows(&[(0, 1.0), (1, 1.25)]))[0];
        assert!(exact.is_good(), "{exact:?}");
    }

    #[test]
    fn the_errors_median_is_relative_to_what_is_published() {
        // Predictions twice and half of what is published: errors of 100 % and 50 %.
        let band = bands(&rows(&[(0, 0.5), (1, 2.0), (2, 2.0)]))[0];
        assert!((band.median_error - 0.5).abs() < 1e-12, "{band:?}");
    }
}
