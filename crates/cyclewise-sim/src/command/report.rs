//! `cyclewise-sim report`: prints a simulation or writes its page.

use crate::record;
use cyclewise_bench::error::{Error, Result};
use cyclewise_bench::record::read;
use cyclewise_report::files::output::Documents;
use std::path::PathBuf;

pub(super) fn report(files: &[PathBuf], documents: &Documents) -> Result<()> {
    documents.check(files)?;
    let [file] = files else {
        return Err(Error::usage(
            "report: several simulations are given; give one, or join the shards of one by `cyclewise fleet join DIR`",
        ));
    };
    let simulation = record::from_str(&file.display().to_string(), &read(file)?)?;
    super::machine::check_absolute(
        &simulation.sweep.machines,
        &[&documents.json, &documents.csv, &documents.html],
    )?;
    super::simulate::write(&simulation, documents)
}
