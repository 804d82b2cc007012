//! Rows of contended operations, and targets that follow from them.

use super::estimate::{Estimate, outcomes};
use super::{Asked, Report, Role, Target, ValidatedRow, preset, validated};
use crate::machine::Published;
use crate::stats::median;
use crate::{Job, Machine, Outcome, Relax, Start, Workload};

/// Permitted median error of exchanges.
const EXCHANGES: f64 = 0.2;
/// Permitted error of each lock.
const LOCKS: f64 = 0.4;

const SOURCE: &str = "T. Downs, concurrency-hierarchy-bench";

/// A row, and its value for each seed.
struct SeededRow {
    row: ValidatedRow,
    values: Vec<f64>,
    stationary: bool,
}

/// Skylake and Ice Lake: client cores with published rows for every operation.
pub(super) fn client_cores() -> Report {
    let mut report = Report::default();
    for name in ["i7-6700hq", "i5-1035g4"] {
        let machine = preset(name);
        let rows = rows(name, &machine);
        report.targets.push(median_error(&machine, &rows));
        report.targets.extend(locks(&machine, &rows));
        report.machines.push(validated(&machine, CLIENT_FIT));
        report.rows.extend(rows.into_iter().map(|row| row.row));
    }
    report
}

const CLIENT_FIT: &str =
    "all of its rows with 2 and more threads; costs of instructions to those of fetch-add with 1 thread";

/// AWS Graviton2, whose atomics are far.
pub(super) fn graviton2() -> Report {
    let machine = preset("graviton2");
    let rows = rows("graviton2", &machine);
    Report {
        machines: vec![validated(
            &machine,
            "the rows of fetch-add, those of cas-loop with 2 and 16 threads, and those of locks with 2 and more threads",
        )],
        targets: vec![median_error(&machine, &rows)],
        rows: rows.into_iter().map(|row| row.row).collect(),
    }
}

fn rows(name: &str, machine: &Machine) -> Vec<SeededRow> {
    machine
        .published
        .iter()
        .map(|point| row(name, machine, point))
        .collect()
}

/// The job of a published figure.
fn job(point: &Published) -> Job {
    let workload = point.workload.parse().expect("a machine file's workloads are checked");
    let mut job = Job::new(workload, point.threads);
    job.relax = point.relax;
    job
}

fn row(name: &str, machine: &Machine, point: &Published) -> SeededRow {
    let job = job(point);
    let outcomes = outcomes(machine, &job);
    let value = |outcome: &Outcome| match point.unit.as_str() {
        "retries/op" => outcome.retries_per_success,
        _ => outcome.ns_per_op,
    };
    let values: Vec<f64> = outcomes.iter().map(value).collect();
    let stationary = outcomes.iter().all(|outcome| outcome.stationary == Some(true));
    let estimate = Estimate::of(Start::Scattered, &values, stationary);
    let (words, option) = match point.relax {
        Relax::None => ("", String::new()),
        relax => (", pause", format!(" --relax {relax}")),
    };
    let row = ValidatedRow {
        machine: machine.name.clone(),
        workload: format!("{}{words}", point.workload),
        threads: point.threads,
        published: point.value,
        seen: estimate.mean,
        interval: estimate.interval,
        stationary,
        unit: point.unit.clone(),
        role: role(name, job.workload, point.threads),
        command: format!(
            "simulate {} --machine {name} --threads {}{option}",
            point.workload, point.threads
        ),
    };
    SeededRow {
        row,
        values,
        stationary,
    }
}

/// Which rows the machine files say that they were fitted to.
fn role(name: &str, workload: Workload, threads: u32) -> Role {
    let is_fitted = match (name, workload) {
        (_, Workload::FetchAdd) => true,
        ("graviton2", Workload::CasLoop) => matches!(threads, 2 | 16),
        _ => threads > 1,
    };
    if is_fitted { Role::Fitted } else { Role::Predicted }
}

/// An estimate of a figure of some rows, by seed.
fn estimate(rows: &[&SeededRow], figure: impl Fn(&[f64]) -> f64) -> Vec<Estimate> {
    let seeds = rows.first().map_or(0, |row| row.values.len());
    let of_seed = |seed: usize| rows.iter().map(|row| row.values[seed]).collect::<Vec<_>>();
    let values: Vec<f64> = (0..seeds).map(|seed| figure(&of_seed(seed))).collect();
    let stationary = rows.iter().all(|row| row.stationary);
    vec![Estimate::of(Start::Scattered, &values, stationary)]
}

/// Fitted if one of the rows is.
fn role_of(rows: &[&SeededRow]) -> Role {
    let is_fitted = rows.iter().any(|row| row.row.role == Role::Fitted);
    if is_fitted { Role::Fitted } else { Role::Predicted }
}

fn median_error(machine: &Machine, rows: &[SeededRow]) -> Target {
    let rows: Vec<&SeededRow> = rows.iter().filter(|row| row.row.workload == "cas-loop").collect();
    let median_of = |values: &[f64]| {
        let errors = values
            .iter()
            .zip(&rows)
            .map(|(value, row)| (value / row.row.published - 1.0).abs());
        median(&errors.collect::<Vec<_>>())
    };
    let asked = Asked {
        what: "exchange loop, median error".to_owned(),
        asked: (0.0, EXCHANGES),
        unit: "share",
        role: role_of(&rows),
        source: SOURCE,
    };
    asked.with(machine, estimate(&rows, median_of))
}

fn locks(machine: &Machine, rows: &[SeededRow]) -> Vec<Target> {
    let most = rows.iter().map(|row| row.row.threads).max().unwrap_or(1);
    let is_lock = |row: &&SeededRow| row.row.workload.starts_with("lock-") && row.row.threads == most;
    let locks: Vec<&SeededRow> = rows.iter().filter(is_lock).collect();
    let relative = |row: &&SeededRow| {
        let SeededRow { row: published, .. } = row;
        let asked = Asked {
            what: format!(
                "{} on {} threads, relative to published",
                published.workload, published.threads
            ),
            asked: (1.0 - LOCKS, 1.0 + LOCKS),
            unit: "ratio",
            role: published.role,
            source: SOURCE,
        };
        asked.with(machine, estimate(&[row], |values| values[0] / published.published))
    };
    let mut targets: Vec<Target> = locks.iter().map(relative).collect();
    let disordered = |values: &[f64]| {
        let pairs = (0..values.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
        let published = |index: usize| locks[index].row.published;
        let wrong = pairs.filter(|&(a, b)| (published(a) < published(b)) != (values[a] < values[b]));
        f64::from(u32::try_from(wrong.count()).unwrap_or(u32::MAX))
    };
    let asked = Asked {
        what: "pairs of spin locks in the wrong order".to_owned(),
        asked: (0.0, 0.0),
        unit: "pairs",
        role: role_of(&locks),
        source: SOURCE,
    };
    targets.push(asked.with(machine, estimate(&locks, disordered)));
    targets
}
