//! Verdicts over all rows, a common unit, and warnings about machines that differ.

mod between;
mod few;
mod lengths;
mod recorded;

use super::*;
use crate::record::made_up::{experiment_of, sampled};
use crate::record::{Control, Figure, Linearity, Machine, PowerLaw, State, Variant, Verdict};

fn variant(name: &str, mean: f64) -> Variant {
    // Deterministic spread of ±1 %.
    let samples: Vec<f64> = (0..50)
        .map(|i| mean * (1.0 + 0.01 * ((i * 7 % 11) as f64 / 5.0 - 1.0)))
        .collect();
    sampled(name, samples)
}

fn record(hz: f64, variants: Vec<Variant>) -> Record {
    let control = Control {
        of: "a".to_string(),
        n: 50,
        ci99: [-0.01, 0.01],
        floor: 0.002,
        ..Control::default()
    };
    let experiment = Experiment {
        unit: Unit::TicksPerOp,
        rounds: 50,
        control: Some(control),
        ..experiment_of("e", variants)
    };
    Record {
        created: "2026-01-01T00:00:00Z".to_string(),
        machine: Machine {
            tsc_hz: hz,
            cpu_model: format!("{hz} Hz"),
            ..Machine::default()
        },
        experiments: vec![experiment],
        ..Record::default()
    }
}

fn report(records: Vec<Record>) -> CompareReport {
    compare(records).unwrap()
}

fn verdicts(report: &CompareReport) -> Vec<Verdict> {
    report
        .experiments
        .iter()
        .flat_map(|e| &e.rows)
        .map(|r| r.verdict)
        .collect()
}

#[test]
fn the_same_record_twice_is_undecided() {
    let r = record(1e9, vec![variant("a", 10.0), variant("b", 3.0)]);
    let report = report(vec![r.clone(), r]);
    assert_eq!(report.warnings.len(), 1, "{:?}", report.warnings);
    assert_says!(report.warnings[0], "A, B are of one run");
    assert!(
        report.experiments[0]
            .rows
            .iter()
            .all(|r| r.verdict == Verdict::Undecided && r.ratio == 1.0)
    );
}

#[test]
fn each_further_record_is_compared_with_the_first() {
    let records = [10.0, 11.0, 9.0, 10.3].map(|mean| record(1e9, vec![variant("a", mean)]));
    let report = report(records.to_vec());
    let rows = &report.experiments[0].rows;
    let verdicts: Vec<_> = rows.iter().map(|r| (r.other, r.verdict)).collect();
    let expected = [(1, Verdict::Slower), (2, Verdict::Faster), (3, Verdict::Undecided)];
    assert_eq!(verdicts, expected, "10 % is found, and 3 % may be a run's layout");
    assert!((rows[0].ratio - 1.1).abs() < 1e-9 && rows[0].basis.base_runs == 1);
    assert_says!(rows[2].reason.as_ref().unwrap(), "--runs 5");
}

#[test]
fn records_are_named_by_machine_and_no_two_alike() {
    let r = record(1e9, vec![variant("a", 10.0)]);
    let labels: Vec<String> = report(vec![r.clone(), r.clone(), r])
        .records
        .into_iter()
        .map(|head| head.label)
        .collect();
    let day = "1000000000 Hz (2026-01-01)";
    assert_eq!(labels, ["A", "B", "C"].map(|letter| format!("{letter}: {day}")));
    assert!(label(30, &Record::default()).starts_with("AE: unknown CPU"));
}

#[test]
fn different_clocks_are_compared_as_time() {
    // Twice the ticks at twice the rate is the same time.
    let records = vec![
        record(1e9, vec![variant("a", 10.0)]),
        record(2e9, vec![variant("a", 20.0)]),
    ];
    let report = report(records);
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
fn variants_in_one_record_only_are_noted() {
    let records = vec![
        record(1e9, vec![variant("a", 1.0), variant("only", 1.0)]),
        record(1e9, vec![variant("a", 1.0), variant("new", 1.0)]),
    ];
    let notes = report(records).experiments[0].notes.join(" ");
    assert_says!(notes, "only", "new");
}

#[test]
fn rows_without_a_ratio_are_noted() {
    let mut zero = variant("b", 1.0);
    (zero.median, zero.samples) = (0.0, vec![0.0; 50]);
    let records = vec![
        record(1e9, vec![variant("a", 1.0), zero.clone()]),
        record(1e9, vec![variant("a", 1.0), zero]),
    ];
    let e = &report(records).experiments[0];
    assert_eq!(e.rows.len(), 1);
    assert!(
        e.notes.iter().any(|n| n.contains("no ratio") && n.ends_with(": b")),
        "{:?}",
        e.notes
    );
}

#[test]
fn nothing_in_common_is_a_usage_error() {
    let records = vec![
        record(1e9, vec![variant("a", 1.0)]),
        record(1e9, vec![variant("b", 1.0)]),
    ];
    assert_says!(compare(records).unwrap_err().message, "no variant in common");
}

#[test]
fn more_operations_a_second_are_faster() {
    let mut records = [10.0, 12.0].map(|mean| record(1e9, vec![variant("a", mean)]));
    for r in &mut records {
        r.experiments[0].unit = Unit::OpsPerSecond;
    }
    assert_eq!(verdicts(&report(records.to_vec())), [Verdict::Faster]);
}

#[test]
fn a_row_that_is_not_linear_has_no_verdict() {
    let mut bent = variant("a", 12.0);
    bent.linearity = Some(Linearity {
        linear: Some(false),
        why: "T(2U) > 2 T(U)".to_string(),
        ..Linearity::default()
    });
    let report = report(vec![record(1e9, vec![variant("a", 10.0)]), record(1e9, vec![bent])]);
    assert_eq!(verdicts(&report), [Verdict::None]);
    assert_says!(report.experiments[0].rows[0].reason.as_ref().unwrap(), "T(2U)");
}

#[test]
fn growth_in_both_records_is_told_beside_each_other() {
    let with = |exponent: f64| {
        let mut r = record(1e9, vec![variant("a", 10.0)]);
        let law = PowerLaw {
            exponent,
            ci95: [exponent - 0.05, exponent + 0.05],
            sizes: 4,
        };
        r.experiments[0].growth = [("a".to_string(), law)].into();
        r
    };
    let notes = |records: [Record; 2]| report(records.to_vec()).experiments[0].notes.join("; ");
    let told = notes([with(1.0), with(2.0)]);
    let laws = "a as n^1.000 [0.950, 1.050] over 4 sizes and n^2.000 [1.950, 2.050] over 4 sizes";
    assert!(
        told.starts_with("growth here and in B: ") && told.ends_with(laws),
        "{told}"
    );
    // The twin: a record that has no law of it.
    let mut without = with(2.0);
    without.experiments[0].growth.clear();
    assert_lacks!(notes([with(1.0), without]), "growth");
}

#[test]
fn quiet_rounds_are_compared_where_both_records_tell_them_apart() {
    // The base was busy for 30 of 50 rounds, the other for 10; quiet, they are alike.
    let with = |busy: usize| {
        let mut v = variant("a", 10.0);
        v.samples.iter_mut().take(busy).for_each(|s| *s *= 1.5);
        v.sample_states = "b".repeat(busy) + &"q".repeat(50 - busy);
        v.median = stats::describe(&v.samples).unwrap().median;
        let quiet = stats::describe(&v.samples[busy..]).unwrap();
        v.headline = Some(Figure {
            state: State::Quiet,
            n: quiet.n,
            median: quiet.median,
            ..Figure::default()
        });
        record(1e9, vec![v])
    };
    let row = report(vec![with(30), with(10)]).experiments[0].rows[0].clone();
    assert!(
        (row.ratio - 1.0).abs() < 0.01 && row.basis.state == State::Quiet,
        "{row:?}"
    );
    let mut untold = with(10);
    untold.experiments[0].variants[0].headline = None;
    let row = report(vec![with(30), untold]).experiments[0].rows[0].clone();
    assert!(row.ratio < 0.7 && row.basis.state == State::All, "{row:?}");
    assert_eq!(row.verdict, Verdict::Undecided, "its blocks show both states");
}

#[test]
fn slower_rows_fail_a_comparison_only_beyond_the_limit() {
    let rule = |text: &str| text.parse::<FailOn>().unwrap();
    let fails = |text: &str, report: &CompareReport| rule(text).check(report).map_err(|e| e.message);
    // Twice the time, known within 5 %.
    let slower = report(vec![
        record(1e9, vec![variant("a", 10.0), variant("b", 10.0)]),
        record(1e9, vec![variant("a", 20.0), variant("b", 10.1)]),
    ]);
    let message = fails("slower:50%", &slower).unwrap_err();
    assert_eq!(message, "slower by more than 50 %: e/a in B: 2.000 [1.905, 2.100]");
    assert_eq!(fails("slower:89%,e", &slower).map_err(drop), Err(()));
    let open = fails("slower:91%", &slower).unwrap_err();
    assert!(
        open.starts_with("1 of 2 variants may be slower by more than 91 %, or not: e/a"),
        "its near bound is 1.905: {open}"
    );
    assert_eq!(fails("slower:111%", &slower), Ok(()), "its far bound is 2.1");
    let faster = report(vec![
        record(1e9, vec![variant("a", 20.0)]),
        record(1e9, vec![variant("a", 10.0)]),
    ]);
    assert_eq!(fails("slower:5%", &faster), Ok(()));
    let unknown = rule("slower:5%,e,popf").check_names(&slower).unwrap_err();
    assert!(unknown.status == crate::error::Status::Usage, "{unknown}");
    assert_says!(unknown.message, "\"popf\"");
    assert!(rule("slower:5%,e").check_names(&slower).is_ok());
    // A matrix has ranges and no rows.
    let mut ranges = slower.clone();
    ranges.experiments.push(CompareExperiment {
        name: "in-context".to_string(),
        rows: Vec::new(),
        ..slower.experiments[0].clone()
    });
    let never = |report: &CompareReport, text: &str| rule(text).check_names(report).unwrap_err();
    assert_says!(
        never(&ranges, "slower:5%,in-context").message,
        "could never fail; it may name e"
    );
    ranges.experiments.remove(0);
    assert_eq!(never(&ranges, "slower:5%").status, crate::error::Status::Usage);
    let mut operations = slower;
    operations.experiments[0].unit = Unit::OpsPerSecond;
    assert_eq!(
        fails("slower:5%", &operations),
        Ok(()),
        "a ratio of 2 is no slowdown of operations a second"
    );
    let row = &mut operations.experiments[0].rows[0];
    (row.ratio, row.ratio_ci95) = (0.5, [Some(0.45), Some(0.55)]);
    assert_says!(fails("slower:50%", &operations).unwrap_err(), "0.500");
}
