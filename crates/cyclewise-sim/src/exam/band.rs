//! How far the published figure may be from a prediction: a band, from held-out rows of machines of the same class.

use super::Group;
use super::class::Class;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The share of held-out rows inside a band; every machine, or family, that was left out has the same weight.
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
    /// Held-out machines with rows of the group; of an instruction set, families.
    pub units: u32,
    /// Held-out rows.
    pub rows: u32,
    /// The median error of held-out rows, with the same weights.
    pub median_error: f64,
}

impl Band {
    /// Whether it is narrow enough to predict with.
    #[must_use]
    pub fn is_narrow(&self) -> bool {
        self.high / self.low <= MOST_SPREAD
    }

    /// Whether held-out rows were predicted as well as is asked of their kind.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.median_error <= self.group.pattern.kind().asked()
    }

    /// Whether it may be predicted with.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.is_narrow() && self.is_exact()
    }

    /// The figures that it allows for a prediction.
    #[must_use]
    pub fn around(&self, predicted: f64) -> (f64, f64) {
        (predicted * self.low, predicted * self.high)
    }
}

/// A held-out row: published over predicted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct HeldOut {
    /// What was left out: a machine or a family, by number.
    pub unit: usize,
    /// The row's group.
    pub group: Group,
    /// Published by predicted.
    pub ratio: f64,
}

/// The band of each group that enough machines or families have rows of.
#[must_use]
pub(super) fn bands(class: &Class, held_out: &[HeldOut]) -> Vec<Band> {
    let band = |group: &Group| {
        let rows: Vec<&HeldOut> = held_out.iter().filter(|row| row.group == *group).collect();
        let of = |unit: usize| rows.iter().filter(|row| row.unit == unit).count();
        let units: BTreeSet<usize> = rows.iter().map(|row| row.unit).collect();
        if units.len() < class.least_units() {
            return None;
        }
        #[expect(clippy::cast_precision_loss, reason = "a few rows")]
        let weight = |row: &HeldOut| 1.0 / (of(row.unit) * units.len()) as f64;
        let ratios: Vec<(f64, f64)> = rows.iter().map(|row| (row.ratio, weight(row))).collect();
        let errors: Vec<(f64, f64)> = rows
            .iter()
            .map(|row| ((1.0 / row.ratio - 1.0).abs(), weight(row)))
            .collect();
        let tail = (1.0 - SHARE) / 2.0;
        Some(Band {
            group: *group,
            low: quantile(&ratios, tail),
            high: quantile(&ratios, 1.0 - tail),
            units: u32::try_from(units.len()).unwrap_or(u32::MAX),
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

    const GROUP: Group = Group {
        pattern: Pattern::QueueLock,
        reach: Reach::Socket,
    };

    fn class() -> Class {
        Class::Family("made up".to_owned())
    }

    fn rows(of: &[(usize, f64)]) -> Vec<HeldOut> {
        let row = |(unit, ratio): &(usize, f64)| HeldOut {
            unit: *unit,
            group: GROUP,
            ratio: *ratio,
        };
        of.iter().map(row).collect()
    }

    #[test]
    fn a_machine_with_many_rows_does_not_outweigh_one_with_few() {
        // Nineteen good rows of one machine, and one bad row of another: half of the weight is bad.
        let mut held_out = rows(&[(0, 1.0); 19]);
        held_out.extend(rows(&[(1, 3.0)]));
        let band = bands(&class(), &held_out)[0];
        assert!(
            (band.low - 1.0).abs() < 1e-12 && (band.high - 3.0).abs() < 1e-12,
            "{band:?}"
        );
        assert_eq!((band.units, band.rows), (2, 20));
        assert!(band.is_narrow());
    }

    #[test]
    fn nine_of_ten_equal_machines_are_inside() {
        let ratios: Vec<(usize, f64)> = (0..20_u32).map(|i| (i as usize, 1.0 + f64::from(i) / 10.0)).collect();
        let band = bands(&class(), &rows(&ratios))[0];
        let inside = ratios
            .iter()
            .filter(|(_, r)| (band.low..=band.high).contains(r))
            .count();
        assert!((18..=19).contains(&inside), "{inside} of 20 in {band:?}");
    }

    #[test]
    fn one_machine_gives_no_band_and_a_wide_one_predicts_nothing() {
        assert_eq!(bands(&class(), &rows(&[(0, 1.0), (0, 1.1)])), []);
        let wide = bands(&class(), &rows(&[(0, 0.4), (1, 2.0)]))[0];
        assert!(!wide.is_narrow());
    }

    #[test]
    fn of_two_machines_the_better_one_does_not_decide() {
        let band = bands(&class(), &rows(&[(0, 1.0), (1, 3.0)]))[0];
        // Errors of 0 and 67 %.
        assert!((band.median_error - 1.0 / 3.0).abs() < 1e-12, "{band:?}");
        assert!(band.is_narrow() && !band.is_exact() && !band.is_good());
        let exact = bands(&class(), &rows(&[(0, 1.0), (1, 1.25)]))[0];
        assert!(exact.is_good(), "{exact:?}");
    }

    #[test]
    fn the_errors_median_is_relative_to_what_is_published() {
        // Predictions twice and half of what is published: errors of 100 % and 50 %.
        let band = bands(&class(), &rows(&[(0, 0.5), (1, 2.0), (2, 2.0)]))[0];
        assert!((band.median_error - 0.5).abs() < 1e-12, "{band:?}");
    }
}
