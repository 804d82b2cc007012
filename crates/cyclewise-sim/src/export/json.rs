//! JSON of sweeps and of lists.

use crate::record::{self, Shard, Simulation, Sweep};
use crate::{Machine, Workload};
use cyclewise_bench::error::Result;
use cyclewise_bench::record::Tool;
pub(crate) use cyclewise_report::export::json::*;
use serde::Serialize;

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

#[derive(Serialize)]
struct SimulationList<'a> {
    workloads: Vec<ListItem<'a>>,
    machines: Vec<ListItem<'a>>,
}

#[derive(Serialize)]
struct ListItem<'a> {
    name: &'a str,
    about: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cpus: Option<u32>,
    /// Of a machine, whether only ratios are told.
    #[serde(skip_serializing_if = "Option::is_none")]
    topology_only: Option<bool>,
}

/// The lists of workloads and machines.
///
/// # Errors
/// Never.
pub(crate) fn simulated(machines: &[(&str, Machine)]) -> Result<String> {
    let workloads = Workload::ALL.iter().map(|w| ListItem {
        name: w.name(),
        about: w.about(),
        cpus: None,
        topology_only: None,
    });
    let machines = machines.iter().map(|(name, m)| ListItem {
        name,
        about: &m.about,
        cpus: Some(m.cpus()),
        topology_only: Some(m.topology_only),
    });
    pretty(&SimulationList {
        workloads: workloads.collect(),
        machines: machines.collect(),
    })
}
