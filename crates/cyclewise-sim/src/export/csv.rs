//! CSV of simulated sweeps.

use crate::record::Simulation;
use cyclewise_bench::error::Result;
use cyclewise_report::export::csv::{failed, text};

const POINT: [&str; 31] = [
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
    "band_factor",
    "band_rows",
    "least_ns_per_op",
    "most_ns_per_op",
    "regimes",
    "slowest_share",
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
        let range = p.range.as_ref();
        // Empty where nothing is known.
        let known = [
            p.refused.clone(),
            p.band.map(|band| band.factor.to_string()),
            p.band.map(|band| band.rows.to_string()),
            range.map(|range| range.ns[0].to_string()),
            range.map(|range| range.ns[1].to_string()),
            range.map(|range| range.regimes.len().max(1).to_string()),
            p.outcome
                .as_ref()
                .and_then(|o| o.slowest_share)
                .map(|share| share.to_string()),
        ];
        match figures {
            Some(figures) => row.extend(figures.map(|x| x.to_string())),
            None => row.resize(POINT.len() - known.len(), String::new()),
        }
        row.extend(known.map(Option::unwrap_or_default));
        writer.write_record(row).map_err(failed)?;
    }
    text(writer)
}
