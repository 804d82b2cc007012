//! `cyclewise report`: writes records as an HTML page, or joins the shards of a simulation.

use super::output::{self, Documents};
use crate::error::{Error, Result};
use crate::record::{self, simulation};
use crate::simulate::join;
use crate::{experiment, export};
use std::path::PathBuf;

pub(super) fn report(files: &[PathBuf], documents: &Documents) -> Result<()> {
    documents.check(files)?;
    let read = |path: &PathBuf| Ok((path.display().to_string(), record::read(path)?));
    let texts = files.iter().map(read).collect::<Result<Vec<(String, String)>>>()?;
    // The parsers below reject a text that is no document.
    let is_simulation = |text: &str| Some(record::schema_of(text)?.starts_with("cyclewise.simulation/"));
    let Some((simulation, _)) = texts.iter().find(|(_, text)| is_simulation(text) == Some(true)) else {
        return records(&texts, documents);
    };
    if let Some((record, _)) = texts.iter().find(|(_, text)| is_simulation(text) == Some(false)) {
        return Err(Error::usage(format!(
            "{simulation} is a simulation and {record} is not; run `report` separately for simulations and for records"
        )));
    }
    let parse = |(name, text): (String, String)| {
        let simulation = simulation::from_str(&name, &text)?;
        Ok((name, simulation))
    };
    documents.write(&join::join(texts.into_iter().map(parse).collect::<Result<Vec<_>>>()?)?)
}

fn records(texts: &[(String, String)], documents: &Documents) -> Result<()> {
    let Some(html) = &documents.html else {
        return Err(Error::usage(
            "a report of records needs --html; --json and --csv only join the shards of a simulation",
        ));
    };
    if documents.json.is_some() || documents.csv.is_some() {
        return Err(Error::usage(
            "--json and --csv only join the shards of a simulation, and records are JSON already; give --html alone",
        ));
    }
    let parse = |(name, text): &(String, String)| record::from_str(name, text);
    let records = texts.iter().map(parse).collect::<Result<Vec<_>>>()?;
    output::put(html, &export::html::render(&records, &experiment::published)?)
}
