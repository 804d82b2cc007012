//! `cyclewise report`: records as one HTML page, or the shards of a simulation joined.

use super::output::{self, Documents};
use crate::error::{Error, Result};
use crate::record::{self, simulation};
use crate::simulate::join;
use crate::{experiment, export};
use std::path::{Path, PathBuf};

pub(super) fn report(files: &[PathBuf], documents: &Documents) -> Result<()> {
    documents.check()?;
    // What is no document at all is refused by whoever reads it.
    let is_simulation = |path: &Path| {
        let schema = record::schema_of(path)?;
        Some(schema.starts_with("cyclewise.simulation/"))
    };
    let simulations: Vec<_> = files.iter().filter(|p| is_simulation(p) == Some(true)).collect();
    if simulations.is_empty() {
        return records(files, documents);
    }
    if let Some(record) = files.iter().find(|p| is_simulation(p) == Some(false)) {
        return Err(Error::usage(format!(
            "{} is a simulation and {} is not; a page of measurements and a page of predictions are made apart",
            simulations[0].display(),
            record.display()
        )));
    }
    let load = |path: &PathBuf| Ok((path.display().to_string(), simulation::load(path)?));
    documents.write(&join::join(files.iter().map(load).collect::<Result<Vec<_>>>()?)?)
}

fn records(files: &[PathBuf], documents: &Documents) -> Result<()> {
    let Some(html) = &documents.html else {
        return Err(Error::usage(
            "records are written as HTML: give --html; --json and --csv are for the shards of a simulation",
        ));
    };
    if documents.json.is_some() || documents.csv.is_some() {
        return Err(Error::usage(
            "--json and --csv join the shards of a simulation; records are JSON already, give --html alone",
        ));
    }
    let records = files.iter().map(|p| record::load(p)).collect::<Result<Vec<_>>>()?;
    output::put(html, &export::html::render(&records, &experiment::published)?)
}
