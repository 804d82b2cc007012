//! JSON of sweeps.

use crate::record::{self, Shard, Simulation, Sweep};
use cyclewise_bench::error::Result;
use cyclewise_bench::record::Tool;
pub(crate) use cyclewise_report::export::json::*;

/// A simulation, with one line per point, so that line tools can read long sweeps and compare shards.
///
/// # Errors
/// Never for a simulated sweep.
pub fn simulation(simulation: &Simulation) -> Result<String> {
    let mut out = simulation_head(&simulation.tool, &simulation.sweep, simulation.shard)?;
    for (i, point) in simulation.points.iter().enumerate() {
        out.push_str(point_separator(i));
        out.push_str(&text(point)?);
    }
    out.push_str(SIMULATION_END);
    Ok(out)
}

/// A simulation up to its points. Then each has its [`point_separator`] before it, and [`SIMULATION_END`] follows.
///
/// # Errors
/// Never for a simulated sweep.
pub fn simulation_head(tool: &Tool, sweep: &Sweep, shard: Option<Shard>) -> Result<String> {
    Ok(format!(
        "{{\"schema\":{},\"tool\":{},\n\"sweep\":{},\n\"shard\":{},\n\"points\":[",
        text(&record::SCHEMA)?,
        text(tool)?,
        text(sweep)?,
        text(&shard)?
    ))
}

/// What is between a point and the one before it.
pub fn point_separator(point: usize) -> &'static str {
    if point == 0 { "\n" } else { ",\n" }
}

/// What follows the last point.
pub const SIMULATION_END: &str = "\n]}\n";
