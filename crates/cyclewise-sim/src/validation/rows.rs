//! Rows of contended operations: fitted to `fetch_add` only; exchanges and locks are predicted.

use super::{Report, Role, Target, ValidatedRow, outcome, preset, validated};
use crate::machine::Published;
use crate::stats::median;
use crate::{Job, Machine, Relax, Workload};

/// Permitted median error of exchanges.
const EXCHANGES: f64 = 0.2;
/// Permitted error of each lock.
const LOCKS: f64 = 0.4;

const SOURCE: &str = "T. Downs, concurrency-hierarchy-bench";

/// Skylake and Ice Lake: client cores with published rows for every operation.
pub(super) fn client_cores() -> Report {
    let mut report = Report {
        machines: Vec::new(),
        targets: Vec::new(),
        rows: Vec::new(),
    };
    for name in ["i7-6700hq", "i5-1035g4"] {
        let machine = preset(name);
        let rows: Vec<ValidatedRow> = machine.published.iter().map(|point| row(&machine, point)).collect();
        report.targets.push(median_error(&machine, &rows));
        report.targets.extend(locks(&machine, &rows));
        report
            .machines
            .push(validated(&machine, "the rows of fetch-add, and the transfer latency"));
        report.rows.extend(rows);
    }
    report
}

/// A machine without targets, so nothing was tuned to it.
pub(super) fn held_out() -> Report {
    let machine = preset("graviton2");
    Report {
        machines: vec![validated(&machine, "the rows of fetch-add, and the transfer latency")],
        targets: Vec::new(),
        rows: machine.published.iter().map(|point| row(&machine, point)).collect(),
    }
}

/// The job of a published figure.
fn job(point: &Published) -> Job {
    let workload = point.workload.parse().expect("a machine file's workloads are checked");
    let mut job = Job::new(workload, point.threads);
    job.relax = point.relax;
    job
}

fn row(machine: &Machine, point: &Published) -> ValidatedRow {
    let job = job(point);
    let outcome = outcome(machine, &job);
    let relax = match point.relax {
        Relax::None => "",
        Relax::Pause => ", pause",
        Relax::Exponential { .. } => ", exponential",
    };
    ValidatedRow {
        machine: machine.name.clone(),
        workload: format!("{}{relax}", point.workload),
        threads: point.threads,
        published: point.value,
        seen: if point.unit == "retries/op" {
            outcome.retries_per_success
        } else {
            outcome.ns_per_op
        },
        unit: point.unit.clone(),
        role: if job.workload == Workload::FetchAdd {
            Role::Fitted
        } else {
            Role::Predicted
        },
    }
}

fn median_error(machine: &Machine, rows: &[ValidatedRow]) -> Target {
    let errors: Vec<f64> = rows
        .iter()
        .filter(|row| row.workload == "cas-loop")
        .map(|row| row.error().abs())
        .collect();
    Target {
        machine: machine.name.clone(),
        what: "exchange loop, median error".to_owned(),
        asked: (0.0, EXCHANGES),
        seen: median(&errors),
        unit: "share",
        role: Role::Predicted,
        source: SOURCE,
    }
}

fn locks(machine: &Machine, rows: &[ValidatedRow]) -> Vec<Target> {
    let locks: Vec<&ValidatedRow> = rows.iter().filter(|row| row.workload.starts_with("lock-")).collect();
    let mut targets: Vec<Target> = locks
        .iter()
        .map(|row| Target {
            machine: machine.name.clone(),
            what: format!("{} on {} threads, relative to published", row.workload, row.threads),
            asked: (1.0 - LOCKS, 1.0 + LOCKS),
            seen: row.seen / row.published,
            unit: "ratio",
            role: Role::Predicted,
            source: SOURCE,
        })
        .collect();
    let pairs = locks
        .iter()
        .enumerate()
        .flat_map(|(index, a)| locks[..index].iter().map(move |b| (a, b)));
    let disordered = pairs
        .filter(|(a, b)| (a.published < b.published) != (a.seen < b.seen))
        .count();
    targets.push(Target {
        machine: machine.name.clone(),
        what: "pairs of spin locks in the wrong order".to_owned(),
        asked: (0.0, 0.0),
        seen: f64::from(u32::try_from(disordered).unwrap_or(u32::MAX)),
        unit: "pairs",
        role: Role::Predicted,
        source: SOURCE,
    });
    targets
}
