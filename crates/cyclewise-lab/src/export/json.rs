//! JSON: records, comparisons, lists.

use crate::error::{Error, Result};
use crate::experiment::Definition;
use crate::record::fleet_report::FleetReport;
use crate::record::simulation::{self, Shard, Simulation, Sweep};
use crate::record::{Record, Tool};
use cyclewise_sim::{Machine, Workload};
use serde::Serialize;
use std::io::{self, Write};

/// A record, in one line.
///
/// # Errors
/// Never for a measured record.
pub(crate) fn record(record: &Record) -> Result<String> {
    // Indented raw samples would be most of the file.
    let mut text = serde_json::to_string(record).map_err(failed)?;
    text.push('\n');
    Ok(text)
}

/// A simulation, with one line per point, so that line tools can read long sweeps and compare shards.
///
/// # Errors
/// Never for a simulated sweep.
pub(crate) fn simulation(simulation: &Simulation) -> Result<String> {
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
pub(crate) fn simulation_head(tool: &Tool, sweep: &Sweep, shard: Option<Shard>) -> Result<String> {
    Ok(format!(
        "{{\"schema\":{},\"tool\":{},\n\"sweep\":{},\n\"shard\":{},\n\"points\":[",
        text(&simulation::SCHEMA)?,
        text(tool)?,
        text(sweep)?,
        text(&shard)?
    ))
}

/// What is between a point and the one before it.
pub(crate) fn point_separator(point: usize) -> &'static str {
    if point == 0 { "\n" } else { ",\n" }
}

/// What follows the last point.
pub(crate) const SIMULATION_END: &str = "\n]}\n";

fn text(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(failed)
}

/// Any document, as indented JSON.
///
/// # Errors
/// Never for a measured document.
pub(crate) fn pretty(document: &impl Serialize) -> Result<String> {
    let mut text = serde_json::to_string_pretty(document).map_err(failed)?;
    text.push('\n');
    Ok(text)
}

/// A fleet's report, in one line: most of it is counts in bins.
///
/// # Errors
/// Those of `out`.
pub(crate) fn fleet(report: &FleetReport, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, report)?;
    out.write_all(b"\n")
}

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
    });
    let machines = machines.iter().map(|(name, m)| ListItem {
        name,
        about: &m.about,
        cpus: Some(m.cpus()),
    });
    pretty(&SimulationList {
        workloads: workloads.collect(),
        machines: machines.collect(),
    })
}

#[derive(Serialize)]
struct ExperimentItem {
    name: &'static str,
    question: &'static str,
    source: &'static str,
    unit: &'static str,
}

/// The list of experiments.
///
/// # Errors
/// Never.
pub(crate) fn experiments(all: &[&Definition]) -> Result<String> {
    let listed: Vec<ExperimentItem> = all
        .iter()
        .map(|d| ExperimentItem {
            name: d.name,
            question: d.question,
            source: d.source,
            unit: d.unit.as_str(),
        })
        .collect();
    pretty(&listed)
}

fn failed(e: serde_json::Error) -> Error {
    Error::check(format!(
        "a result could not be written as JSON: {e}; please report this"
    ))
}
