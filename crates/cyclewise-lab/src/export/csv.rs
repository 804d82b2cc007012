//! CSV: one line per variant, point or cell; the header has the names of the JSON fields.

use crate::error::{Error, Result};
use crate::record::simulation::Simulation;
use crate::record::{Matrix, Record};

use crate::simulate::phase::Phase;

const HEADER: [&str; 15] = [
    "experiment",
    "variant",
    "unit",
    "n",
    "rejected",
    "mean",
    "sd",
    "median",
    "min",
    "ci95_low",
    "ci95_high",
    "code_bytes",
    "core_cycles",
    "instructions",
    "cycles_source",
];

/// The record's variants.
///
/// # Errors
/// Never for a measured record.
pub(crate) fn record(record: &Record) -> Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(HEADER).map_err(failed)?;
    for e in &record.experiments {
        // The cells of a matrix are rows called `operation/surroundings`.
        let cells = e.matrix.as_ref().map(Matrix::rows).unwrap_or_default();
        for v in e.variants.iter().chain(&cells) {
            let cycles = v.cycles.as_ref();
            let optional = |value: Option<f64>| value.map(|x| x.to_string()).unwrap_or_default();
            let row = [
                e.name.clone(),
                v.name.clone(),
                e.unit.as_str().to_string(),
                v.n.to_string(),
                v.rejected.to_string(),
                v.mean.to_string(),
                v.sd.to_string(),
                v.median.to_string(),
                v.min.to_string(),
                v.ci95[0].to_string(),
                v.ci95[1].to_string(),
                v.code_bytes.map(|b| b.to_string()).unwrap_or_default(),
                optional(cycles.map(|c| c.per_op)),
                optional(cycles.and_then(|c| c.instructions)),
                cycles.map(|c| c.source.clone()).unwrap_or_default(),
            ];
            writer.write_record(row).map_err(failed)?;
        }
    }
    text(writer)
}

const POINT: [&str; 25] = [
    "machine",
    "workload",
    "threads",
    "retry_limit",
    "relax",
    "critical_cycles",
    "parallel_cycles",
    "placement",
    "readers",
    "seed",
    "ops",
    "ops_per_s",
    "ns_per_op",
    "p50_ns",
    "p90_ns",
    "p99_ns",
    "p999_ns",
    "max_ns",
    "jain",
    "longest_wait_ns",
    "retries_per_success",
    "line_moves_per_op",
    "ops_per_ownership",
    "fallback_share",
    "refused",
];

/// A simulation's points.
///
/// # Errors
/// Never for a simulated sweep.
pub(crate) fn simulation(simulation: &Simulation) -> Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(POINT).map_err(failed)?;
    for p in &simulation.points {
        let job = &p.job;
        let figures = p.outcome.as_ref().map(|o| {
            let l = &o.latency;
            [
                o.ops_per_s,
                o.ns_per_op,
                l.p50_ns,
                l.p90_ns,
                l.p99_ns,
                l.p999_ns,
                l.max_ns,
                o.jain,
                o.longest_wait_ns,
                o.retries_per_success,
                o.line_moves_per_op,
                o.ops_per_ownership,
                o.fallback_share,
            ]
        });
        let mut row = vec![
            simulation.sweep.machines[p.machine].name.clone(),
            job.workload.name().to_owned(),
            job.threads.to_string(),
            job.retry_limit.map_or_else(|| "none".to_owned(), |n| n.to_string()),
            job.relax.to_string(),
            job.critical_cycles.to_string(),
            job.parallel_cycles.to_string(),
            job.placement.name().to_owned(),
            job.readers.to_string(),
            job.seed.to_string(),
            p.outcome.as_ref().map(|o| o.ops.to_string()).unwrap_or_default(),
        ];
        match figures {
            Some(figures) => row.extend(figures.map(|x| x.to_string())),
            None => row.resize(POINT.len() - 1, String::new()),
        }
        row.push(p.refused.clone().unwrap_or_default());
        writer.write_record(row).map_err(failed)?;
    }
    text(writer)
}

/// A phase diagram's cells.
///
/// # Errors
/// Never for a simulated diagram.
pub(crate) fn phase(phase: &Phase) -> Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let header = [
        "hold",
        "hold_cycles",
        "overtakes",
        "retries_per_success",
        "jain",
        "ns_per_op",
    ];
    writer.write_record(header).map_err(failed)?;
    for c in phase.cells.iter().flatten() {
        let row = [
            c.hold.to_string(),
            c.hold_cycles.to_string(),
            c.overtakes.to_string(),
            c.retries_per_success.to_string(),
            c.jain.to_string(),
            c.ns_per_op.to_string(),
        ];
        writer.write_record(row).map_err(failed)?;
    }
    text(writer)
}

fn text(writer: csv::Writer<Vec<u8>>) -> Result<String> {
    let bytes = writer.into_inner().map_err(|e| failed(e.into_error().into()))?;
    String::from_utf8(bytes).map_err(|e| Error::check(format!("CSV is not UTF-8: {e}; please report this")))
}

fn failed(e: csv::Error) -> Error {
    Error::check(format!("a result could not be written as CSV: {e}; please report this"))
}
