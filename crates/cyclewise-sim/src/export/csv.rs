//! CSV of simulated sweeps.

use super::figure::FIGURES;
use crate::record::Simulation;
use cyclewise_bench::error::Result;
use cyclewise_report::export::csv::{failed, text};

/// Columns before the figures.
const JOB: &str =
    "machine,workload,threads,retry_limit,relax,critical_cycles,parallel_cycles,placement,readers,seed,ops";
/// And behind them: empty where nothing is known.
const KNOWN: &str = "refused,band_factor,band_rows,least_ns_per_op,most_ns_per_op,regimes,slowest_share";

/// A simulation's points.
///
/// # Errors
/// Never for a simulated sweep.
pub(crate) fn simulation(simulation: &Simulation) -> Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let figures = FIGURES.iter().map(|figure| figure.csv);
    let columns = JOB.split(',').chain(figures).chain(KNOWN.split(','));
    writer.write_record(columns).map_err(failed)?;
    for p in &simulation.points {
        let (job, outcome, range) = (&p.job, p.outcome.as_ref(), p.range.as_ref());
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
            outcome.map(|o| o.ops.to_string()).unwrap_or_default(),
        ];
        let figures = FIGURES.iter().map(|figure| outcome.map(figure.of));
        let [least, most] = [0, 1].map(|end| range.map(|range| range.ns[end]));
        row.extend(figures.map(shown));
        row.extend([
            p.refused.clone().unwrap_or_default(),
            shown(p.band.map(|band| band.factor)),
            shown(p.band.map(|band| band.rows)),
            shown(least),
            shown(most),
            shown(range.map(|range| range.regimes.len().max(1))),
            shown(outcome.and_then(|o| o.slowest_share)),
        ]);
        writer.write_record(row).map_err(failed)?;
    }
    text(writer)
}

fn shown(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}
