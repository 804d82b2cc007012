//! `cyclewise-locks report`: the tables of documents, or the page of one.

use super::args::ReportArgs;
use crate::error::{Error, Result};
use crate::{export, record};
use cyclewise_report::files::output;
use std::path::{Path, PathBuf};

pub(super) fn report(args: &ReportArgs) -> Result<()> {
    output::check_named(&[("--html", &args.html)], &args.documents)?;
    let read = |path: &PathBuf| record::from_str(&path.display().to_string(), &cyclewise_bench::record::read(path)?);
    let all = args.documents.iter().map(read).collect::<Result<Vec<_>>>()?;
    match (&args.html, all.as_slice()) {
        (Some(html), [one]) => output::put(html, &export::html::render_locks(one)?),
        (Some(_), _) => Err(Error::usage(
            "--html shows one program's locked instructions; give one file written by `cyclewise locks --json`",
        )),
        (None, all) => {
            let look = output::look(args.wide);
            let table = |one| export::table::locks(one, args.lines as usize, look);
            let tables: Vec<String> = all.iter().map(table).collect();
            output::put(Path::new("-"), &tables.join("\n"))
        }
    }
}
