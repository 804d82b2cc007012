//! `cyclewise report`: prints records or a program's locked instructions or writes them as an HTML page. A simulation is
//! `cyclewise-sim`'s.

use super::product;
use crate::error::{Error, Result};
use crate::sys::memfd;
use crate::{experiment, export, record};
use cyclewise_report::files::output::{self, Documents};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

pub(super) fn report(files: &[PathBuf], documents: &Documents, wide: bool, lines: usize) -> Result<()> {
    documents.check(files)?;
    let read = |path: &PathBuf| Ok((path.display().to_string(), record::read(path)?));
    let texts = files.iter().map(read).collect::<Result<Vec<(String, String)>>>()?;
    // Of none where it is no document, which the parsers below reject.
    let schemas: Vec<_> = texts.iter().map(|(_, text)| record::schema_of(text)).collect();
    let first = |kind: &str, is_of_kind| {
        let is_it =
            |schema: &Option<String>| schema.as_ref().map(|schema| schema.starts_with(kind)) == Some(is_of_kind);
        schemas.iter().position(is_it).map(|at| &texts[at].0)
    };
    if first("cyclewise.locks/", true).is_some() {
        return locks(&readable_again(files, &texts)?, documents, wide, lines);
    }
    let Some(simulation) = first("cyclewise.simulation/", true) else {
        return records(&texts, documents, wide);
    };
    if let Some(record) = first("cyclewise.simulation/", false) {
        return Err(Error::usage(format!(
            "{simulation} is a simulation and {record} is not; run `report` separately for simulations and for records"
        )));
    }
    Err(product::become_program(
        product::SIM,
        words(&readable_again(files, &texts)?, documents),
    ))
}

/// Files that another program can read. A pipe was read for its schema, and gives its text once: that is kept as a file.
fn readable_again(files: &[PathBuf], texts: &[(String, String)]) -> Result<Vec<PathBuf>> {
    let again = |(file, (name, text)): (&PathBuf, &(String, String))| match file.is_file() {
        true => Ok(file.clone()),
        false => memfd::kept_over_exec(c"cyclewise-report", text)
            .map_err(|e| Error::system(name, &e, "give the document as a file")),
    };
    files.iter().zip(texts).map(again).collect()
}

/// The arguments by which the simulator's own `report` does the same.
fn words(files: &[PathBuf], documents: &Documents) -> Vec<OsString> {
    let Documents { json, csv, html } = documents;
    let named = [("--json", json), ("--csv", csv), ("--html", html)];
    let option = |(option, path): (&str, &Option<PathBuf>)| {
        let path = path.as_ref()?;
        Some([OsString::from(option), path.clone().into()])
    };
    let options = named.into_iter().filter_map(option).flatten();
    let files = files.iter().map(|file| file.clone().into());
    let files = std::iter::once(OsString::from("--")).chain(files);
    std::iter::once(OsString::from("report"))
        .chain(options)
        .chain(files)
        .collect()
}

/// What programs pay for atomics: by the program that counts them.
fn locks(files: &[PathBuf], documents: &Documents, wide: bool, lines: usize) -> Result<()> {
    refuse_formats(documents)?;
    let mut words = vec![OsString::from("report"), "--lines".into(), lines.to_string().into()];
    words.extend(wide.then(|| "--wide".into()));
    if let Some(html) = &documents.html {
        words.extend(["--html".into(), html.into()]);
    }
    words.push("--".into());
    words.extend(files.iter().map(OsString::from));
    Err(product::become_program(product::LOCKS, words))
}

/// Refuses the options that only simulations have.
fn refuse_formats(documents: &Documents) -> Result<()> {
    match documents.json.is_some() || documents.csv.is_some() {
        true => Err(Error::usage(
            "--json and --csv are for simulations, and records are JSON already; give --html, or none of them",
        )),
        false => Ok(()),
    }
}

fn records(texts: &[(String, String)], documents: &Documents, wide: bool) -> Result<()> {
    refuse_formats(documents)?;
    let parse = |(name, text): &(String, String)| record::from_str(name, text);
    let records = texts.iter().map(parse).collect::<Result<Vec<_>>>()?;
    if let Some(html) = &documents.html {
        return output::put(html, &export::html::render(&records, &experiment::published)?);
    }
    let look = output::look(wide);
    let tables: Vec<String> = records.iter().map(|r| export::table::record(r, look)).collect();
    output::put(Path::new("-"), &tables.join("\n"))
}
