//! VALIDATION.md is up to date, and a target can be missed.

use super::*;
use crate::Start;

/// The document in the tree.
const DOCUMENT: &str = include_str!("../../VALIDATION.md");

#[test]
fn the_document_is_up_to_date() {
    let report = run();
    assert!(
        report.to_markdown() == DOCUMENT,
        "VALIDATION.md is out of date: cargo run --release -- simulate validate --markdown crates/cyclewise-sim/VALIDATION.md"
    );
    for (machine, what, _) in markdown::MISSES {
        let is_missed = |target: &Target| target.machine == *machine && target.what.starts_with(what);
        assert!(report.missed().any(is_missed), "{machine}: {what} is no longer missed");
    }
    for (machine, what, _) in markdown::REGIMES {
        let has_two =
            |target: &Target| target.has_two_regimes() && target.machine == *machine && target.what.starts_with(what);
        assert!(report.targets.iter().any(has_two), "{machine}: {what} has one regime");
    }
}

fn target(estimates: Vec<Estimate>) -> Target {
    let asked = Asked {
        what: "w".to_owned(),
        asked: (1.0, 2.0),
        unit: "ratio",
        role: Role::Predicted,
        source: "s",
    };
    let machine = Machine {
        name: "m".to_owned(),
        ..preset("graviton2")
    };
    asked.with(&machine, estimates)
}

fn of(start: Start, values: [f64; 5]) -> Estimate {
    Estimate::of(start, &values, true)
}

fn scattered(value: f64) -> Vec<Estimate> {
    vec![of(Start::Scattered, [value; 5])]
}

#[test]
fn a_missed_target_is_reported() {
    assert!(target(scattered(1.0)).is_met() && target(scattered(2.0)).is_met());
    for missed in [0.99, 2.01, f64::NAN] {
        assert!(!target(scattered(missed)).is_met());
    }
    let report = Report {
        targets: vec![target(scattered(1.5)), target(scattered(3.0))],
        ..Report::default()
    };
    let text = report.to_markdown();
    assert!(text.contains("1 of 2 targets met."), "{text}");
    assert!(
        text.contains("- m: w: 3.00 [3.00, 3.00] ratio, outside 1.00 to 2.00. The reason is unknown."),
        "{text}"
    );
    assert!(
        text.contains("| m | w | 1.00 to 2.00 | 3.00 [3.00, 3.00] ratio | **missed** | predicted | s |"),
        "{text}"
    );
}

#[test]
fn a_mean_in_the_range_with_an_interval_that_is_not_is_a_miss() {
    let wide = target(vec![of(Start::Scattered, [1.1, 1.9, 1.0, 2.0, 1.5])]);
    assert!((wide.seen - 1.5).abs() < 1e-12);
    assert!(!wide.is_met());
}

#[test]
fn of_two_regimes_one_is_enough_and_both_are_shown() {
    let two = |crowd| target(vec![of(Start::Scattered, [0.8; 5]), of(Start::Crowd, [crowd; 5])]);
    assert!(two(1.5).is_met() && (two(1.5).seen - 1.5).abs() < 1e-12);
    assert!(!two(2.5).is_met() && (two(2.5).seen - 0.8).abs() < 1e-12);
    let report = Report {
        targets: vec![two(1.5)],
        ..Report::default()
    };
    let text = report.to_markdown();
    let shown = "- m: w: scattered: 0.80 [0.80, 0.80]; crowd: 1.50 [1.50, 1.50] ratio, published 1.00 to 2.00. The reason is unknown.";
    assert!(text.contains(shown), "{text}");
}

#[test]
fn an_error_is_relative_to_the_published_figure() {
    let row = ValidatedRow {
        machine: "m".to_owned(),
        workload: "w".to_owned(),
        threads: 1,
        published: 50.0,
        seen: 45.0,
        interval: (44.0, 46.0),
        stationary: true,
        unit: "ns/op".to_owned(),
        role: Role::Predicted,
        command: "simulate w".to_owned(),
    };
    assert!((row.error() + 0.1).abs() < 1e-12);
}
