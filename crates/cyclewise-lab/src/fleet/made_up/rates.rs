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
    let levels = made.levels();
    move |group, m, r, runs| {
        if (group, m, r) == (0, machine, row) {
            runs.fill(3.0 + levels[group][row] + sigmas * made.sigma());
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

#[test]
fn alike_groups_of_unequal_size_do_not_differ() {
    let sizes = [60, 2, 3, 5];
    let differ = |seed: u64| {
        let made = Made {
            seed,
            groups: sizes.len(),
            machines: sizes[0],
            between_groups: 0.0,
            ..MADE
        };
        let mut members = made.members(as_made);
        let mut at = 0;
        members.retain(|_| {
            let (group, machine) = (at / sizes[0], at % sizes[0]);
            at += 1;
            machine < sizes[group]
        });
        !report(members).differences.is_empty()
    };
    let found = (0..20).filter(|seed| differ(*seed)).count();
    // One of twenty at most is expected, and chance has four in one of sixty.
    assert!(found <= 3, "{found} of 20 fleets");
}

/// The fleet of the promise.
const PROMISED: Made = Made {
    groups: 20,
    machines: 1000,
    runs: 3,
    rows: 17,
    ..MADE
};

/// Puts machines 0, 100, 200 … of group 0 to 9 at `sigmas` of their group in one row each.
fn planted(made: Made, sigmas: f64) -> impl Fn(usize, usize, usize, &mut [f64]) {
    let levels = made.levels();
    move |group, machine, row, runs| {
        if group < 10 && machine == 100 * group && row == group {
            runs.fill(3.0 + levels[group][row] + sigmas * made.sigma());
        }
    }
}

#[test]
#[ignore = "a minute in release: cargo test --release -p cyclewise-lab --lib -- --ignored --nocapture fleet::made_up"]
fn ten_planted_machines_of_20_000_are_found_and_false_ones_are_at_the_rate() {
    for sigmas in [5.0, 6.0] {
        let (mut missed, mut wrong, mut named) = (0, 0, 0);
        for seed in 0..10 {
            let made = Made { seed, ..PROMISED };
            let begun = std::time::Instant::now();
            let members = made.members(planted(made, sigmas));
            let made_in = begun.elapsed();
            let report = report(members);
            let took = begun.elapsed() - made_in;
            let found: BTreeSet<String> = report
                .outliers
                .iter()
                .map(|o| report.machines[o.machine].name.clone())
                .collect();
            let truth: BTreeSet<String> = (0..10).map(|group| format!("n{group}-{:05}", 100 * group)).collect();
            missed += truth.difference(&found).count();
            wrong += found.difference(&truth).count();
            named += found.len();
            println!("{sigmas} sigma, seed {seed}: {} named, {took:.1?}", found.len());
        }
        println!("{sigmas} sigma: {missed} of 100 missed, {wrong} of {named} false");
        assert_eq!(missed, 0, "{sigmas} sigma");
        // 5 % of some 105, and three standard errors of that count.
        assert!(wrong <= 13, "{sigmas} sigma: {wrong} of {named} false");
    }
}

#[test]
#[ignore = "seconds in release, and 2 GiB: cargo test --release -p cyclewise-lab --lib -- --ignored --nocapture fleet::made_up"]
fn twenty_thousand_machines_of_two_hundred_rows() {
    let members = Made {
        rows: 200,
        runs: 1,
        ..PROMISED
    }
    .members(as_made);
    let begun = std::time::Instant::now();
    let report = report(members);
    println!(
        "20 000 machines of 200 rows: {:.1?}; {} groups",
        begun.elapsed(),
        report.groups.len()
    );
    assert_eq!((report.machines.len(), report.rows.len()), (20_000, 200));
    let members = Made { rows: 200, ..PROMISED }.members(as_made);
    let begun = std::time::Instant::now();
    let report = self::report(members);
    println!(
        "the same of three runs: {:.1?}; {} groups",
        begun.elapsed(),
        report.groups.len()
    );
    assert_eq!((report.machines.len(), report.rows.len()), (20_000, 200));
}
