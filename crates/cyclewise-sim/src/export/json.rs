//! JSON of sweeps.

use crate::record::Simulation;
use cyclewise_bench::error::Result;
pub(crate) use cyclewise_report::export::json::*;

/// A simulation, with one line per point, so that line tools can read long sweeps.
///
/// # Errors
/// Never for a simulated sweep.
pub(crate) fn simulation(simulation: &Simulation) -> Result<String> {
    let points = simulation.points.iter().map(text).collect::<Result<Vec<_>>>()?;
    Ok(format!(
        "{{\"schema\":{},\"tool\":{},\n\"sweep\":{},\n\"points\":[\n{}\n]}}\n",
        text(&simulation.schema)?,
        text(&simulation.tool)?,
        text(&simulation.sweep)?,
        points.join(",\n")
    ))
}
