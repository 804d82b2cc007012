//! Verdicts over all rows, a common unit, and warnings about machines that differ.

use super::*;
use crate::record::{Control, Machine, Tool};

fn variant(name: &str, mean: f64) -> Variant {
    // Deterministic spread of ±1 %.
    let samples: Vec<f64> = (0..50)
        .map(|i| mean * (1.0 + 0.01 * ((i * 7 % 11) as f64 / 5.0 - 1.0)))
        .collect();
    let s = stats::describe(&samples).unwrap();
    Variant {
        name: name.to_string(),
        n: s.n,
        rejected: 0,
        rejected_by: Default::default(),
        rejected_rounds: Vec::new(),
        mean: s.mean,
        sd: s.sd,
        median: s.median,
        min: s.min,
        ci95: s.ci95,
        code_bytes: None,
        cycles: None,
        metrics: Default::default(),
        samples,
        ..Variant::default()
    }
}

fn record(hz: f64, variants: Vec<Variant>) -> Record {
    let control = Control {
        of: "a".to_string(),
        n: 50,
        difference: 0.0,
        ci99: [-0.01, 0.01],
        floor: 0.002,
        samples: Vec::new(),
        ..Control::default()
    };
    let experiment = Experiment {
        name: "e".to_string(),
        question: "Which?".to_string(),
        source: "a test".to_string(),
        unit: Unit::TicksPerOp,
        rounds: 50,
        control: Some(control),
        variants,
        comparisons: Vec::new(),
        notes: Vec::new(),
        ..Experiment::default()
    };
    Record {
        schema: crate::record::SCHEMA.to_string(),
        created: "2026-01-01T00:00:00Z".to_string(),
        tool: Tool {
            version: "0".to_string(),
            commit: None,
        },
        seed: 1,
        command: Vec::new(),
        machine: Machine {
            tsc_hz: hz,
            cpu_model: format!("{hz} Hz"),
            ..Machine::default()
        },
        experiments: vec![experiment],
        ..Record::default()
    }
}

fn labelled(records: Vec<Record>) -> Vec<(String, Record)> {
    ["a.json", "b.json", "c.json"]
        .map(str::to_string)
        .into_iter()
        .zip(records)
        .collect()
}

#[test]
fn the_same_record_twice_is_indistinguishable() {
    let r = record(1e9, vec![variant("a", 10.0), variant("b", 3.0)]);
    let report = compare(&labelled(vec![r.clone(), r]), 1).unwrap();
    assert!(report.warnings.is_empty(), "{:?}", report.warnings);
    assert!(
        report.experiments[0]
            .rows
            .iter()
            .all(|r| r.verdict == Verdict::Undecided && r.ratio == 1.0)
    );
}

#[test]
fn a_slower_record_is_slower() {
    let report = compare(
        &labelled(vec![
            record(1e9, vec![variant("a", 10.0)]),
            record(1e9, vec![variant("a", 11.0)]),
        ]),
        1,
    )
    .unwrap();
    let row = &report.experiments[0].rows[0];
    assert_eq!(row.verdict, Verdict::Slower);
    assert!((row.ratio - 1.1).abs() < 1e-9);
}

#[test]
fn different_clocks_are_compared_as_time() {
    // Twice the ticks at twice the rate is the same time.
    let records = vec![
        record(1e9, vec![variant("a", 10.0)]),
        record(2e9, vec![variant("a", 20.0)]),
    ];
    let report = compare(&labelled(records), 1).unwrap();
    let e = &report.experiments[0];
    assert_eq!(e.unit, Unit::NanosPerOp);
    assert_eq!(e.rows[0].verdict, Verdict::Undecided);
    // At 1 GHz a tick is a nanosecond.
    assert!((e.rows[0].base_stats.mean - variant("a", 10.0).mean).abs() < 1e-9);
    assert!((e.rows[0].ratio - 1.0).abs() < 1e-9);
    assert!(report.warnings.iter().any(|w| w.contains("nanoseconds")));
    assert!(report.warnings.iter().any(|w| w.contains("the CPU differs")));
}

#[test]
fn each_further_record_is_compared_with_the_first() {
    let records = [10.0, 11.0, 9.0]
        .map(|mean| record(1e9, vec![variant("a", mean)]))
        .to_vec();
    let report = compare(&labelled(records), 1).unwrap();
    let verdicts: Vec<_> = report.experiments[0]
        .rows
        .iter()
        .map(|r| (r.other, r.verdict))
        .collect();
    assert_eq!(verdicts, [(1, Verdict::Slower), (2, Verdict::Faster)]);
}

#[test]
fn variants_in_one_record_only_are_noted() {
    let records = vec![
        record(1e9, vec![variant("a", 1.0), variant("only", 1.0)]),
        record(1e9, vec![variant("a", 1.0), variant("new", 1.0)]),
    ];
    let notes = compare(&labelled(records), 1).unwrap().experiments[0].notes.join(" ");
    assert!(notes.contains("only") && notes.contains("new"));
}

#[test]
fn nothing_in_common_is_a_usage_error() {
    let records = vec![
        record(1e9, vec![variant("a", 1.0)]),
        record(1e9, vec![variant("b", 1.0)]),
    ];
    assert!(
        compare(&labelled(records), 1)
            .unwrap_err()
            .message
            .contains("no variant in common")
    );
}

#[test]
fn without_a_control_no_verdict_is_given() {
    let mut bare = record(1e9, vec![variant("a", 11.0)]);
    bare.experiments[0].control = None;
    let report = compare(&labelled(vec![record(1e9, vec![variant("a", 10.0)]), bare]), 1).unwrap();
    assert_eq!(report.experiments[0].rows[0].verdict, Verdict::Undecided);
    assert_eq!(report.experiments[0].floor, None);
}
