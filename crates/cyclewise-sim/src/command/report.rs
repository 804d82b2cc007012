//! `cyclewise-sim report`: prints a simulation or writes its page, or joins its shards.

use crate::record;
use crate::sweep::join;
use cyclewise_bench::error::Result;
use cyclewise_bench::record::read;
use cyclewise_report::files::output::Documents;
use std::path::PathBuf;

pub(super) fn report(files: &[PathBuf], documents: &Documents) -> Result<()> {
    documents.check(files)?;
    let parse = |path: &PathBuf| {
        let name = path.display().to_string();
        let simulation = record::from_str(&name, &read(path)?)?;
        Ok((name, simulation))
    };
    let parts = files.iter().map(parse).collect::<Result<Vec<_>>>()?;
    let joined = join::join(parts)?;
    super::machine::check_absolute(
        &joined.sweep.machines,
        &[&documents.json, &documents.csv, &documents.html],
    )?;
    super::simulate::write(&joined, documents)
}
