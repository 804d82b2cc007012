//! A record's output: the table on stdout, and the files that the command line names.

use super::cli::Common;
use crate::error::Result;
use crate::record::Record;
use crate::{experiment, export};
use cyclewise_report::files::default_names;
use cyclewise_report::files::output::{check_named, first_failure, put, put_and_tell, tell};
use std::path::{Path, PathBuf};

/// Renders a record in one format.
type Exporter = fn(&Record) -> Result<String>;

/// Checks the output paths before anything is measured: see [`check_named`]. `default_files`: if none is named, checks that
/// new files can be made here.
pub(super) fn check(common: &Common, default_files: bool) -> Result<()> {
    let named = [
        ("--json", &common.json),
        ("--csv", &common.csv),
        ("--csv-comparisons", &common.csv_comparisons),
        ("--bmf", &common.bmf),
        ("--html", &common.html),
    ];
    if default_files && named.iter().all(|(_, path)| path.is_none()) {
        return default_names::check(Path::new("."));
    }
    check_named(&named, common.anonymous.as_slice())
}

/// Writes `record` in every format named; prints the table unless a document takes stdout.
pub(super) fn write(record: &Record, common: &Common, table: &str, default_files: bool) -> Result<()> {
    let formats: [(&Option<PathBuf>, Exporter); 5] = [
        (&common.json, export::json::record),
        (&common.csv, export::csv::record),
        (&common.csv_comparisons, export::csv::comparisons),
        (&common.bmf, export::bmf::record),
        (&common.html, html),
    ];
    let documents: Vec<(PathBuf, Exporter)> = formats
        .into_iter()
        .filter_map(|(path, make)| Some((path.clone()?, make)))
        .collect();
    let on_stdout = documents.iter().any(|(path, _)| path == Path::new("-"));
    let printed = if on_stdout { Ok(()) } else { put(Path::new("-"), table) };
    let new = || new_files(record);
    let new_files = (documents.is_empty() && default_files).then(new);
    let written = documents
        .into_iter()
        .map(|(path, make)| put_and_tell(&path, make(record)));
    first_failure(std::iter::once(printed).chain(written).chain(new_files))
}

/// Writes the record and its report to new files here.
fn new_files(record: &Record) -> Result<()> {
    let documents = [("json", export::json::record(record)?), ("html", html(record)?)];
    let paths = default_names::write(Path::new(""), &default_names::stem(record), &documents)?;
    for path in paths {
        tell(&format!("wrote {}", path.display()));
    }
    Ok(())
}

fn html(record: &Record) -> Result<String> {
    export::html::render(std::slice::from_ref(record), &experiment::published)
}
