//! A record's output: the table on stdout, and the files that the command line names.

use super::common::Common;
use crate::error::Result;
use crate::record::Record;
use crate::{experiment, export};
use cyclewise_report::files::default_names;
use cyclewise_report::files::output::{check_named, first_failure, put, put_and_tell, tell};
use std::path::{Path, PathBuf};

/// Renders a record in one format.
pub(super) type Exporter<'a> = &'a dyn Fn(&Record) -> Result<String>;

/// An option that names a document, its path, and what renders it.
pub(super) type Document<'a> = (&'static str, &'a Option<PathBuf>, Exporter<'a>);

/// The documents of every command that measures.
pub(super) fn documents(common: &Common) -> [Document<'_>; 4] {
    [
        ("--json", &common.json, &export::json::record),
        ("--csv", &common.csv, &export::csv::record),
        ("--bmf", &common.bmf, &export::bmf::record),
        ("--html", &common.html, &html),
    ]
}

/// Checks the output paths before anything is measured: see [`check_named`]. `default_files`: if none is named, checks that
/// new files can be made here.
pub(super) fn check(documents: &[Document<'_>], common: &Common, default_files: bool) -> Result<()> {
    if default_files && documents.iter().all(|(_, path, _)| path.is_none()) {
        return default_names::check(Path::new("."));
    }
    let named: Vec<_> = documents.iter().map(|(option, path, _)| (*option, *path)).collect();
    check_named(&named, common.anonymous.as_slice())
}

/// Writes `record` in every format named; prints the table unless a document takes stdout.
pub(super) fn write(record: &Record, documents: &[Document<'_>], table: &str, default_files: bool) -> Result<()> {
    let named = || {
        documents
            .iter()
            .filter_map(|(_, path, make)| Some((path.as_ref()?, make)))
    };
    let on_stdout = named().any(|(path, _)| path == Path::new("-"));
    let printed = if on_stdout { Ok(()) } else { put(Path::new("-"), table) };
    let new = || new_files(record);
    let new_files = (named().next().is_none() && default_files).then(new);
    let written = named().map(|(path, make)| put_and_tell(path, make(record)));
    first_failure(std::iter::once(printed).chain(written).chain(new_files))
}

/// Writes what is measured so far to the files that are named. What fails here fails at the end, and is told then.
pub(super) fn save(record: &Record, documents: &[Document<'_>]) {
    for (_, path, make) in documents {
        if let Some(path) = path
            && path != Path::new("-")
            && (path.is_file() || !path.exists())
            && let Ok(text) = make(record)
        {
            let _ = put(path, &text);
        }
    }
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
