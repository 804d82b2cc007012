//! The rate of false discoveries where the truth is known, and twins in which it is broken.

use super::*;
use std::collections::BTreeSet;

/// A fleet of the size that the analysis is made for, as far as a test without optimization can be.
const LARGE: Made = Made {
    groups: 4,
    machines: 250,
    runs: 2,
    rows: 6,
    ..MADE
};

/// Puts machine `machine` of group 0 at exactly `sigmas` of its group in row `row`, whatever it was made as.
fn at(made: Made, sigmas: f64, machine: usize, row: usize) -> impl Fn(usize, usize, usize, &mut [f64]) {
    let level: Vec<f64> = {
        let mut s = Source::new(made.seed);
        (0..made.rows).map(|_| made.between_groups * s.normal()).collect()
    };
    move |group, m, r, runs| {
        if (group, m, r) == (0, machine, row) {
            runs.fill(3.0 + level[row] + sigmas * made.sigma());
        }
    }
}

#[test]
fn a_fleet_without_outliers_has_none_nearly_always() {
    let found: usize = (0..6)
        .map(|seed| {
            let made = Made {
                seed,
                machines: 120,
                ..LARGE
            };
            usize::from(!report(made.members(as_made)).outliers.is_empty())
        })
        .sum();
    // Where nothing is to be found, the rate is the share of fleets in which something is: 5 %.
    assert!(found <= 2, "{found} of 6 fleets");
}

#[test]
fn a_machine_at_six_sigma_is_found_among_all() {
    let report = report(LARGE.members(at(LARGE, 6.0, 77, 2)));
    let found: BTreeSet<&str> = report
        .outliers
        .iter()
        .map(|o| report.machines[o.machine].name.as_str())
        .collect();
    assert!(found.contains("n0-00077"), "{found:?}");
    assert!(found.len() <= 2, "{found:?}");
}
