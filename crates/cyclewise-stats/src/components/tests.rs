//! Components of published designs, and how often intervals hold the truth.

use super::*;
use crate::random::{Source, column};
use crate::tests::rates::rate;

/// Yield of dyestuff from six batches, five samples each (Davies and Goldsmith, 1972; lme4's `Dyestuff`).
const DYESTUFF: [[f64; 5]; 6] = [
    [1545.0, 1440.0, 1440.0, 1520.0, 1580.0],
    [1540.0, 1555.0, 1490.0, 1560.0, 1495.0],
    [1595.0, 1550.0, 1605.0, 1510.0, 1560.0],
    [1445.0, 1440.0, 1595.0, 1465.0, 1545.0],
    [1595.0, 1630.0, 1515.0, 1635.0, 1625.0],
    [1520.0, 1455.0, 1450.0, 1480.0, 1445.0],
];

/// Strength of a paste: ten batches, three casks of each, two tests of each (the same book; lme4's `Pastes`).
const PASTES: [[[f64; 2]; 3]; 10] = [
    [[62.8, 62.6], [60.1, 62.3], [62.7, 63.1]],
    [[60.0, 61.4], [57.5, 56.9], [61.1, 58.9]],
    [[58.7, 57.5], [63.9, 63.1], [65.4, 63.7]],
    [[57.1, 56.4], [56.9, 58.6], [64.7, 64.5]],
    [[55.1, 55.1], [54.7, 54.2], [58.8, 57.5]],
    [[63.4, 64.9], [59.3, 58.1], [60.5, 60.0]],
    [[62.5, 62.6], [61.0, 58.7], [56.9, 57.7]],
    [[59.2, 59.4], [65.2, 66.0], [64.8, 64.1]],
    [[54.8, 54.8], [64.0, 64.0], [57.7, 56.8]],
    [[58.3, 59.3], [59.2, 59.2], [58.9, 56.6]],
];

fn pastes() -> Vec<Machines> {
    PASTES
        .iter()
        .map(|batch| batch.iter().map(|cask| cask.to_vec()).collect())
        .collect()
}

fn shown(component: Option<Component>) -> String {
    component.map_or("none".to_owned(), |c| format!("{:.4}", c.sd))
}

#[test]
fn dyestuff_as_lme4_prints_it() {
    // One level: batches are the machines of one group, samples their runs.
    let found = components(&[DYESTUFF.iter().map(|b| b.to_vec()).collect()]).unwrap();
    let between = found.between_machines.unwrap();
    assert_eq!(format!("{:.2}", between.sd), "42.00");
    assert_eq!(format!("{:.2}", found.between_runs.unwrap().sd), "49.51");
    assert_eq!(found.between_groups, None);
    // Balanced: the residual's interval is nearly that of chi-squared with 24 degrees of freedom, 38.66 to 68.88.
    let [low, high] = found.between_runs.unwrap().ci95.map(Option::unwrap);
    assert!((low - 38.5).abs() < 0.7 && (high - 68.5).abs() < 1.2, "{low} {high}");
}

#[test]
fn pastes_as_lme4_prints_it() {
    let found = components(&pastes()).unwrap();
    let sd = [found.between_groups, found.between_machines, found.between_runs].map(shown);
    assert_eq!(sd, ["1.2874", "2.9041", "0.8234"]);
    // The batches may be all alike: lme4's profile says so too.
    assert_eq!(found.between_groups.unwrap().ci95[0], Some(0.0));
}

/// The definition: covariances in full.
fn by_matrices(groups: &[Machines], sd: [f64; 3]) -> f64 {
    let rows: Vec<(usize, usize, f64)> = groups
        .iter()
        .enumerate()
        .flat_map(|(g, machines)| {
            machines
                .iter()
                .enumerate()
                .flat_map(move |(m, runs)| runs.iter().map(move |y| (g, m, *y)))
        })
        .collect();
    let n = rows.len();
    let same = |yes: bool, sd: f64| if yes { sd * sd } else { 0.0 };
    let covariance = |i: usize, j: usize| {
        let (a, b) = (rows[i], rows[j]);
        same(a.0 == b.0, sd[0]) + same((a.0, a.1) == (b.0, b.1), sd[1]) + same(i == j, sd[2])
    };
    let mut factor = vec![vec![0.0; n]; n];
    for i in 0..n {
        for j in 0..=i {
            let sum: f64 = (0..j).map(|k| factor[i][k] * factor[j][k]).sum();
            let rest: f64 = covariance(i, j) - sum;
            factor[i][j] = if i == j { rest.sqrt() } else { rest / factor[j][j] };
        }
    }
    let solve = |right: &dyn Fn(usize) -> f64| {
        let mut x = vec![0.0; n];
        for i in 0..n {
            let sum: f64 = (0..i).map(|k| factor[i][k] * x[k]).sum();
            x[i] = (right(i) - sum) / factor[i][i];
        }
        x
    };
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let (ones, y) = (solve(&|_| 1.0), solve(&|i| rows[i].2));
    let (weight, mean) = (dot(&ones, &ones), dot(&ones, &y));
    let logs: f64 = (0..n).map(|i| 2.0 * factor[i][i].ln()).sum();
    logs + weight.ln() + dot(&y, &y) - mean * mean / weight
}

#[test]
fn the_likelihood_is_that_of_the_whole_covariance_however_unbalanced() {
    let mut s = Source::new(9);
    let groups: Vec<Machines> = [3, 1, 5]
        .iter()
        .map(|machines| (0..*machines).map(|m| column(1 + (m * 3) % 4, || s.normal())).collect())
        .collect();
    let data = Data::of_groups(&groups).unwrap();
    let unit = data.scale;
    // The two differ by what does not depend on the components.
    let apart = |sd: [f64; 3]| data.deviance(&sd) - by_matrices(&groups, sd.map(|sd| sd * unit));
    let first = apart([0.3, 0.5, 0.7]);
    for sd in [[0.0, 0.5, 0.7], [2.0, 0.0, 0.1], [0.9, 3.0, 1.1]] {
        assert!((apart(sd) - first).abs() < 1e-8, "{sd:?}: {} {first}", apart(sd));
    }
}

#[test]
fn few_machines_say_what_they_cannot_tell() {
    assert_eq!(components(&[]), None);
    assert_eq!(components(&[vec![vec![1.0, 2.0]]]), None);
    let two = components(&[vec![vec![1.0], vec![1.1]]]).unwrap();
    assert!(two.between_groups.is_none() && two.between_runs.is_none());
    assert!((two.between_machines.unwrap().sd - 0.0707).abs() < 1e-3, "{two:?}");
    let alone = components(&[vec![vec![1.0]], vec![vec![1.1]]]).unwrap();
    assert!(alone.between_machines.is_none() && alone.between_groups.is_none());
    let same = components(&[vec![vec![2.0, 2.0], vec![2.0, 2.0]], vec![vec![2.0]]]).unwrap();
    for component in [same.between_groups, same.between_machines, same.between_runs] {
        assert!(component.unwrap().sd < 1e-3, "{same:?}");
    }
}

/// The share of fleets in which each interval misses the truth.
fn missed(groups: usize, machines: usize, runs: usize, truth: [f64; 3], trials: usize) -> [f64; 3] {
    let mut missed = [0.0; 3];
    rate(trials, 77, |s| {
        let fleet: Vec<Machines> = (0..groups)
            .map(|g| {
                let level = truth[0] * s.normal();
                // Unbalanced: every other group is half as large, and every third machine has one run less.
                let machines = if g % 2 == 1 { machines.div_ceil(2) } else { machines };
                let machine = |m: usize, s: &mut Source| {
                    let level = level + truth[1] * s.normal();
                    column(runs - usize::from(m % 3 == 2), || level + truth[2] * s.normal())
                };
                (0..machines).map(|m| machine(m, s)).collect()
            })
            .collect();
        let found = components(&fleet).unwrap();
        let all = [found.between_groups, found.between_machines, found.between_runs];
        for (i, component) in all.into_iter().enumerate() {
            let [low, high] = component.unwrap().ci95.map(Option::unwrap);
            missed[i] += f64::from(u8::from(truth[i] < low || truth[i] > high)) / trials as f64;
        }
        false
    });
    missed
}

#[test]
fn intervals_of_a_small_unbalanced_fleet_cover() {
    let missed = missed(3, 6, 3, [0.1, 0.03, 0.02], 150);
    assert!(missed.iter().all(|m| *m < 0.1), "{missed:?}");
}

#[test]
#[ignore = "a minute in release: cargo test --release -p cyclewise-stats -- --ignored components"]
fn intervals_cover_at_their_level() {
    for (groups, machines, runs, truth) in [
        (2, 8, 3, [0.1, 0.03, 0.02]),
        (3, 6, 3, [0.1, 0.03, 0.02]),
        (8, 20, 2, [0.1, 0.03, 0.02]),
        (5, 10, 3, [0.02, 0.03, 0.02]),
        (30, 10, 3, [0.02, 0.0, 0.02]),
    ] {
        let missed = missed(groups, machines, runs, truth, 2000);
        println!("{groups} groups of {machines} machines of {runs} runs, {truth:?}: missed {missed:.3?}");
        // A component that is zero, or nearly, is missed less often.
        assert!(missed.iter().all(|m| *m < 0.07), "{groups} {truth:?}: {missed:?}");
    }
}

#[test]
fn twin_intervals_without_the_correction_of_few_groups_are_caught() {
    assert!((bartlett(1.0) - 1.2704).abs() < 1e-3, "{}", bartlett(1.0));
    assert!((bartlett(1e5) - 1.0).abs() < 1e-3 && (bartlett(20.0) - 1.0 / 60.0 - 1.0).abs() < 1e-3);
    // A variance of one degree of freedom, r times what is seen: covered while r − ln r − 1 is within the limit.
    let missed = |limit: f64| {
        rate(20_000, 5, |s| {
            let r = s.normal().powi(2);
            r - r.ln() - 1.0 > limit
        })
    };
    assert!((missed(CHI2 * bartlett(1.0)) - 0.05).abs() < 0.01);
    assert!(missed(CHI2) > 0.07, "{}", missed(CHI2));
}

#[test]
fn two_runs_of_one_of_sixty_machines_do_not_take_the_spread_from_the_machines() {
    let mut s = Source::new(8);
    let mut machines: Machines = (0..60).map(|_| vec![0.02 * s.normal()]).collect();
    machines[7] = vec![-0.03, 0.03];
    let found = components(&[machines.clone()]).unwrap();
    assert_eq!(found.between_runs, None);
    assert!(
        (found.between_machines.unwrap().sd / 0.02 - 1.0).abs() < 0.3,
        "{found:?}"
    );
    // The twin: one degree of freedom decides of everything.
    let split = split(&Data::of_groups(&[machines]).unwrap()).unwrap();
    assert!(
        split.between_machines.unwrap().sd < 0.01 && split.between_runs.unwrap().sd > 0.015,
        "{split:?}"
    );
}
