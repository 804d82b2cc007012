//! Where results go: stdout and the files the command line names.

use super::cli::Common;
use crate::error::{Error, Result};
use crate::export;
use crate::record::Record;
use crate::record::simulation::Simulation;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The report that `run` writes when no output is named.
const DEFAULT_HTML: &str = "cyclewise-report.html";
/// The record that `run` writes when no output is named.
const DEFAULT_JSON: &str = "cyclewise-record.json";

/// Makes one document of a record.
type Exporter = fn(&Record) -> Result<String>;

/// Whether stdout belongs to one document alone.
pub(super) fn takes_stdout(path: Option<&PathBuf>) -> bool {
    path.is_some_and(|p| p == Path::new("-"))
}

/// Where the documents of a simulation go.
pub(super) struct Documents {
    pub(super) json: Option<PathBuf>,
    pub(super) csv: Option<PathBuf>,
    pub(super) html: Option<PathBuf>,
}

impl Documents {
    /// As [`check`].
    pub(super) fn check(&self) -> Result<()> {
        check_named(&[("--json", &self.json), ("--csv", &self.csv), ("--html", &self.html)])
    }

    /// Writes `simulation` everywhere; the table goes to stdout unless a document has it.
    pub(super) fn write(&self, simulation: &Simulation) -> Result<()> {
        let formats = [
            export::json::simulation,
            export::csv::simulation,
            export::html::render_simulation,
        ];
        self.put(simulation, formats, export::table::simulation)
    }

    /// The same of any document, by what makes JSON, CSV and HTML of it.
    pub(super) fn put<T>(
        &self,
        document: &T,
        formats: [fn(&T) -> Result<String>; 3],
        table: fn(&T) -> String,
    ) -> Result<()> {
        let paths = [&self.json, &self.csv, &self.html].into_iter().zip(formats);
        let documents: Vec<_> = paths.filter_map(|(path, make)| Some((path.as_ref()?, make))).collect();
        if !documents.iter().any(|(path, _)| takes_stdout(Some(path))) {
            put(Path::new("-"), &table(document))?;
        }
        for (path, make) in documents {
            put(path, &make(document)?)?;
            if path != Path::new("-") {
                anstream::eprintln!("wrote {}", path.display());
            }
        }
        Ok(())
    }
}

/// Refuses what cannot work before anything is measured: see [`check_named`].
pub(super) fn check(common: &Common) -> Result<()> {
    check_named(&[
        ("--json", &common.json),
        ("--csv", &common.csv),
        ("--bmf", &common.bmf),
        ("--html", &common.html),
    ])
}

/// Refuses two documents on stdout, and a folder that is not there.
pub(super) fn check_named(named: &[(&str, &Option<PathBuf>)]) -> Result<()> {
    let given = named
        .iter()
        .filter_map(|(option, path)| path.as_ref().map(|p| (*option, p)));
    let mut on_stdout = Vec::new();
    for (option, path) in given {
        if path == Path::new("-") {
            on_stdout.push(option);
        } else {
            writable(option, path)?;
        }
    }
    match on_stdout.as_slice() {
        [] | [_] => Ok(()),
        many => Err(Error::usage(format!(
            "{} all want stdout; give a file to all but one",
            many.join(" and ")
        ))),
    }
}

/// Refuses a path whose folder is missing, so that no result is lost at the end.
pub(super) fn writable(option: &str, path: &Path) -> Result<()> {
    let folder = path
        .parent()
        .filter(|p| !p.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    if path.is_dir() || !folder.is_dir() {
        let what = if path.is_dir() {
            "is a folder"
        } else {
            "lies in a folder that does not exist"
        };
        return Err(Error::usage(format!(
            "{option} {}: {what}; name a file in an existing folder",
            path.display()
        )));
    }
    Ok(())
}

/// Writes `record` everywhere the command line says; the table goes to stdout unless a document has it.
pub(super) fn write(record: &Record, common: &Common, table: &str, default_files: bool) -> Result<()> {
    let formats: [(&Option<PathBuf>, Exporter); 4] = [
        (&common.json, export::json::record),
        (&common.csv, export::csv::record),
        (&common.bmf, export::bmf::record),
        (&common.html, html),
    ];
    let mut documents: Vec<(PathBuf, Exporter)> = formats
        .into_iter()
        .filter_map(|(path, make)| Some((path.clone()?, make)))
        .collect();
    if !documents.iter().any(|(path, _)| path == Path::new("-")) {
        put(Path::new("-"), table)?;
    }
    if documents.is_empty() && default_files {
        documents.push((DEFAULT_JSON.into(), export::json::record));
        documents.push((DEFAULT_HTML.into(), html));
    }
    for (path, make) in documents {
        put(&path, &make(record)?)?;
        if path != Path::new("-") {
            anstream::eprintln!("wrote {}", path.display());
        }
    }
    Ok(())
}

fn html(record: &Record) -> Result<String> {
    export::html::render(std::slice::from_ref(record), &crate::experiment::published)
}

/// Writes a document to a file, or to stdout for `-`. A reader that went away (`| head`) is no error.
pub(super) fn put(path: &Path, text: &str) -> Result<()> {
    if path == Path::new("-") {
        let mut out = anstream::stdout().lock();
        return match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => {
                Err(Error::system("writing to stdout", &e, "give a file instead"))
            }
            _ => Ok(()),
        };
    }
    std::fs::write(path, text).map_err(|e| {
        Error::usage(format!(
            "writing {}: {e}; name a place that can be written",
            path.display()
        ))
    })
}
