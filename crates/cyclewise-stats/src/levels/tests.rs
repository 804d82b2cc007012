//! Levels of made and of published matrices.

use super::*;

/// core-to-core-latency (N. Viennot, MIT), Apple M1 Pro: one-way ns of CPU n to CPUs 0 to n − 1, rounded. Two efficient cores, and two
/// clusters of three performance cores.
const M1_PRO: &[&[f64]] = &[
    &[53.0],
    &[143.0, 145.0],
    &[148.0, 145.0, 38.0],
    &[145.0, 146.0, 41.0, 40.0],
    &[150.0, 139.0, 157.0, 156.0, 148.0],
    &[134.0, 133.0, 148.0, 152.0, 155.0, 43.0],
    &[133.0, 134.0, 138.0, 156.0, 149.0, 40.0, 40.0],
];

/// The same of a Ryzen 7 2700X: two core complexes of four cores of two threads.
const RYZEN_2700X: &[&[f64]] = &[
    &[10.0],
    &[24.0, 24.0],
    &[24.0, 23.0, 10.0],
    &[23.0, 23.0, 23.0, 23.0],
    &[23.0, 23.0, 23.0, 23.0, 10.0],
    &[25.0, 25.0, 25.0, 26.0, 26.0, 23.0],
    &[24.0, 24.0, 24.0, 23.0, 23.0, 23.0, 10.0],
    &[91.0, 91.0, 91.0, 91.0, 91.0, 91.0, 90.0, 90.0],
    &[91.0, 90.0, 92.0, 91.0, 92.0, 91.0, 91.0, 91.0, 10.0],
    &[92.0, 91.0, 92.0, 92.0, 92.0, 92.0, 92.0, 92.0, 24.0, 24.0],
    &[92.0, 91.0, 92.0, 92.0, 92.0, 92.0, 92.0, 92.0, 24.0, 23.0, 10.0],
    &[92.0, 94.0, 94.0, 93.0, 94.0, 93.0, 93.0, 93.0, 24.0, 24.0, 23.0, 23.0],
    &[
        93.0, 93.0, 94.0, 94.0, 93.0, 93.0, 93.0, 92.0, 23.0, 23.0, 23.0, 23.0, 10.0,
    ],
    &[
        92.0, 92.0, 92.0, 92.0, 93.0, 94.0, 94.0, 93.0, 25.0, 25.0, 24.0, 24.0, 23.0, 23.0,
    ],
    &[
        92.0, 92.0, 92.0, 92.0, 93.0, 93.0, 93.0, 93.0, 24.0, 24.0, 24.0, 23.0, 23.0, 23.0, 10.0,
    ],
];

/// The same of the first twelve CPUs of an AWS Graviton2, whose cores are on a mesh.
const GRAVITON2: &[&[f64]] = &[
    &[42.0],
    &[42.0, 42.0],
    &[42.0, 42.0, 40.0],
    &[45.0, 45.0, 46.0, 46.0],
    &[45.0, 45.0, 46.0, 46.0, 42.0],
    &[40.0, 40.0, 41.0, 41.0, 40.0, 40.0],
    &[40.0, 40.0, 41.0, 41.0, 40.0, 40.0, 34.0],
    &[45.0, 45.0, 42.0, 42.0, 46.0, 45.0, 40.0, 40.0],
    &[44.0, 45.0, 42.0, 42.0, 45.0, 46.0, 40.0, 40.0, 42.0],
    &[42.0, 42.0, 44.0, 44.0, 40.0, 40.0, 38.0, 38.0, 42.0, 42.0],
    &[42.0, 42.0, 44.0, 44.0, 40.0, 40.0, 38.0, 38.0, 42.0, 42.0, 34.0],
];

fn published(rows: &[&[f64]]) -> Times {
    let mut times = Times::new(rows.len() + 1);
    for (above, row) in rows.iter().enumerate() {
        for (b, ns) in row.iter().enumerate() {
            times.set(above + 1, b, *ns);
        }
    }
    times
}

/// Times by a rule.
fn made(cpus: usize, ns: impl Fn(usize, usize) -> f64) -> Times {
    let mut times = Times::new(cpus);
    for a in 0..cpus {
        for b in 0..a {
            times.set(a, b, ns(a, b));
        }
    }
    times
}

/// Two sockets of three complexes of four cores of two threads, CPUs numbered in that order; every pair with noise of a tenth.
fn nested(a: usize, b: usize) -> f64 {
    let exact = if a / 2 == b / 2 {
        10.0
    } else if a / 8 == b / 8 {
        25.0
    } else if a / 24 == b / 24 {
        100.0
    } else {
        200.0
    };
    exact * (1.0 + 0.1 * ((a * 31 + b * 17) % 11) as f64 / 10.0)
}

fn sizes(levels: &[Level]) -> Vec<Vec<usize>> {
    levels
        .iter()
        .map(|level| level.groups.iter().map(Vec::len).collect())
        .collect()
}

#[test]
fn nested_groups_are_found_with_noise() {
    let found = levels(&made(48, nested)).unwrap();
    assert_eq!(
        sizes(&found),
        [vec![2; 24], vec![8; 6], vec![24; 2], vec![48]],
        "{found:?}"
    );
    assert_eq!(found[1].groups[1], (8..16).collect::<Vec<_>>());
    assert_eq!(found.iter().map(|level| level.pairs).sum::<usize>(), 48 * 47 / 2);
    assert!(found[3].median_ns >= 200.0 && found[3].median_ns <= 220.0);
}

#[test]
fn published_machines_have_their_known_groups() {
    let m1 = levels(&published(M1_PRO)).unwrap();
    // The two efficient cores are slower to each other than performance cores are, and still nearer than to those.
    assert_eq!(m1[0].groups, [vec![0, 1], vec![2, 3, 4], vec![5, 6, 7]]);
    assert_eq!((m1.len(), m1[1].groups.len()), (2, 1));
    let ryzen = levels(&published(RYZEN_2700X)).unwrap();
    assert_eq!(sizes(&ryzen), [vec![2; 8], vec![8; 2], vec![16]]);
    assert_eq!((ryzen[1].median_ns, ryzen[2].median_ns), (23.0, 92.0));
}

#[test]
fn a_mesh_is_one_level_whose_spread_shows() {
    let part = levels(&published(GRAVITON2)).unwrap();
    assert_eq!(part.len(), 1);
    // Eight by eight cores, 30 ns and 2 more a hop.
    let mesh = |a: usize, b: usize| 30.0 + 2.0 * ((a % 8).abs_diff(b % 8) + (a / 8).abs_diff(b / 8)) as f64;
    let whole = levels(&made(64, mesh)).unwrap();
    assert_eq!(whole.len(), 1);
    assert!(whole[0].is_gradient(), "{:?}", whole[0]);
    let even = levels(&made(8, |_, _| 40.0)).unwrap();
    assert!(!even[0].is_gradient() && even[0].spread() == 1.0);
}

#[test]
fn a_cpu_that_others_used_makes_no_level_and_a_slow_pair_moves_nobody() {
    let slow = |a: usize, b: usize| nested(a, b) * if a == 5 || b == 5 { 7.0 } else { 1.0 };
    let found = levels(&made(48, slow)).unwrap();
    let shape = sizes(&found);
    assert_eq!(shape.len(), 4, "{shape:?}");
    assert_eq!(shape[2].iter().filter(|size| **size >= 23).count(), 2);
    let pair = |a: usize, b: usize| nested(a, b) * if (a, b) == (9, 8) { 50.0 } else { 1.0 };
    assert_eq!(sizes(&levels(&made(48, pair)).unwrap())[1], vec![8; 6]);
}

#[test]
fn without_the_rule_on_groups_one_slow_cpu_would_be_a_level() {
    // The twin: the cut is there, and only what is joined above it tells.
    let times = made(5, |a, _| if a == 4 { 90.0 } else { 30.0 });
    let edges = spanning_tree(5, &times.pairs());
    assert!(edges[3].0 > GAP * edges[2].0);
    assert_eq!(levels(&times).unwrap().len(), 1);
}

#[test]
fn pairs_that_are_missing_are_an_error() {
    let mut times = made(4, |_, _| 30.0);
    times.set(2, 1, f64::NAN);
    let error = levels(&times).unwrap_err();
    assert_eq!(error, LevelsError::Incomplete { measured: 5, all: 6 });
    assert!(error.to_string().contains("5 of 6 pairs"));
    assert_eq!(levels(&Times::new(1)), Err(LevelsError::OneCpu));
}
