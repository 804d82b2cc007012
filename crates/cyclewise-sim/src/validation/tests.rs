//! VALIDATION.md is up to date, and a target can be missed.

use super::*;
use crate::fit::{self, Isa, Measurements};
use crate::machine::Latency;
use crate::{Placement, Workload};

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
}

/// The measurements that a preset was fitted to: the `fetch_add` rows of its file, and a measured transfer.
///
/// No transfer time of the i7-6700HQ or the i5-1035G4 is published. These are from the i7-6700K, with the same cores and ring, and
/// the i7-1165G7, the next generation of the same ring.
fn measured(name: &str) -> Measurements {
    let machine = preset(name);
    let transfer = match name {
        "i7-6700hq" => Some(20.0),
        "i5-1035g4" => Some(27.0),
        _ => machine.latency.socket_ns,
    };
    let isa = match machine.line.ll_hold {
        Some(_) => Isa::Aarch64,
        None => Isa::X86 {
            pause_cycles: machine.cost.pause_cycles,
        },
    };
    let rows = machine
        .published
        .iter()
        .filter(|point| point.workload == Workload::FetchAdd.name());
    let rows = rows.map(|point| fit::MeasuredRow {
        workload: Workload::FetchAdd,
        threads: point.threads,
        placement: Placement::Compact,
        ns_per_op: point.value,
    });
    Measurements {
        name: machine.name.clone(),
        about: machine.about.clone(),
        ghz: machine.ghz,
        isa,
        topology: machine.topology,
        latency: Latency {
            socket_ns: transfer,
            ..machine.latency
        },
        rows: rows.collect(),
    }
}

#[test]
fn fitting_reproduces_the_fitted_presets() {
    for name in ["i7-6700hq", "i5-1035g4", "graviton2"] {
        let fit = fit::fit(&measured(name)).unwrap();
        let preset = preset(name);
        println!("{name}: scale {}, {:?}", fit.scale, fit.rows);
        assert_eq!(fit.machine.latency, preset.latency, "{name}");
        assert_eq!(fit.machine.line, preset.line, "{name}");
        assert_eq!(fit.machine.cost, preset.cost, "{name}");
        assert_eq!(fit.machine.fitted, preset.fitted, "{name}");
    }
}

fn target(seen: f64) -> Target {
    Target {
        machine: "m".to_owned(),
        what: "w".to_owned(),
        asked: (1.0, 2.0),
        seen,
        unit: "ratio",
        role: Role::Predicted,
        source: "s",
    }
}

#[test]
fn a_missed_target_is_reported() {
    assert!(target(1.0).is_met() && target(2.0).is_met());
    assert!(!target(0.99).is_met() && !target(2.01).is_met() && !target(f64::NAN).is_met());
    let report = Report {
        machines: Vec::new(),
        targets: vec![target(1.5), target(3.0)],
        rows: Vec::new(),
    };
    let text = report.to_markdown();
    assert!(text.contains("1 of 2 targets met."), "{text}");
    assert!(
        text.contains("- m: w: 3.00 ratio, outside 1.00 to 2.00. The reason is unknown."),
        "{text}"
    );
    assert!(
        text.contains("| m | w | 1.00 to 2.00 | 3.00 ratio | **missed** | predicted | s |"),
        "{text}"
    );
}

#[test]
fn an_error_is_relative_to_the_published_figure() {
    let row = ValidatedRow {
        machine: "m".to_owned(),
        workload: "w".to_owned(),
        threads: 1,
        published: 50.0,
        seen: 45.0,
        unit: "ns/op".to_owned(),
        role: Role::Predicted,
    };
    assert!((row.error() + 0.1).abs() < 1e-12);
}
