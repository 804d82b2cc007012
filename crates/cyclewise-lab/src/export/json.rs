//! JSON: records, comparisons, lists.

use crate::error::{Error, Result};
use crate::experiment::Definition;
use crate::record::Record;
use crate::record::simulation::Simulation;
use cyclewise_sim::{Machine, Workload};
use serde::Serialize;

/// A record, as the schema promises it.
///
/// # Errors
/// None that a measured record can cause.
pub fn record(record: &Record) -> Result<String> {
    // One line: raw samples, indented, would be most of the file.
    let mut text = serde_json::to_string(record).map_err(failed)?;
    text.push('\n');
    Ok(text)
}

/// A simulation, a line for each point: long sweeps stay readable to line tools, and shards can be compared.
///
/// # Errors
/// None that a simulated sweep can cause.
pub fn simulation(simulation: &Simulation) -> Result<String> {
    let mut out = format!(
        "{{\"schema\":{},\"tool\":{},\n\"sweep\":{},\n\"shard\":{},\n\"points\":[",
        text(&simulation.schema)?,
        text(&simulation.tool)?,
        text(&simulation.sweep)?,
        text(&simulation.shard)?
    );
    for (i, point) in simulation.points.iter().enumerate() {
        out.push_str(if i == 0 { "\n" } else { ",\n" });
        out.push_str(&text(point)?);
    }
    out.push_str("\n]}\n");
    Ok(out)
}

fn text(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(failed)
}

/// Any document, indented.
///
/// # Errors
/// None that a measured document can cause.
pub fn pretty(document: &impl Serialize) -> Result<String> {
    let mut text = serde_json::to_string_pretty(document).map_err(failed)?;
    text.push('\n');
    Ok(text)
}

#[derive(Serialize)]
struct Simulated<'a> {
    workloads: Vec<Named<'a>>,
    machines: Vec<Named<'a>>,
}

#[derive(Serialize)]
struct Named<'a> {
    name: &'a str,
    about: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cpus: Option<u32>,
}

/// The workloads and the machines there are.
///
/// # Errors
/// None.
pub fn simulated(machines: &[(&str, Machine)]) -> Result<String> {
    let workloads = Workload::ALL.iter().map(|w| Named {
        name: w.name(),
        about: w.about(),
        cpus: None,
    });
    let machines = machines.iter().map(|(name, m)| Named {
        name,
        about: &m.about,
        cpus: Some(m.topology.cpus()),
    });
    pretty(&Simulated {
        workloads: workloads.collect(),
        machines: machines.collect(),
    })
}

#[derive(Serialize)]
struct Listed {
    name: &'static str,
    question: &'static str,
    source: &'static str,
    unit: &'static str,
}

/// The list of experiments.
///
/// # Errors
/// None.
pub fn experiments(all: &[&Definition]) -> Result<String> {
    let listed: Vec<Listed> = all
        .iter()
        .map(|d| Listed {
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
