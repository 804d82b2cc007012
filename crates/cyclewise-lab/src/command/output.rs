//! Where results go: stdout and the files the command line names.

use super::cli::Common;
use super::progress::tell;
use crate::error::{Error, Result};
use crate::export;
use crate::record::Record;
use crate::record::simulation::Simulation;
use std::fs::OpenOptions;
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
    /// As [`check_named`].
    pub(super) fn check(&self, inputs: &[PathBuf]) -> Result<()> {
        let named = [("--json", &self.json), ("--csv", &self.csv), ("--html", &self.html)];
        check_named(&named, inputs)
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
        let on_stdout = documents.iter().any(|(path, _)| takes_stdout(Some(path)));
        let printed = if on_stdout {
            Ok(())
        } else {
            put(Path::new("-"), &table(document))
        };
        let written = documents
            .into_iter()
            .map(|(path, make)| put_and_tell(path, make(document)));
        first_failure(std::iter::once(printed).chain(written))
    }
}

/// Refuses what cannot work before anything is measured: see [`check_named`]. `default_files`: those that are written where
/// none is named will be.
pub(super) fn check(common: &Common, default_files: bool) -> Result<()> {
    let named = [
        ("--json", &common.json),
        ("--csv", &common.csv),
        ("--bmf", &common.bmf),
        ("--html", &common.html),
    ];
    if default_files && named.iter().all(|(_, path)| path.is_none()) {
        // As if they had been named.
        let [json, html] = [DEFAULT_JSON, DEFAULT_HTML].map(|name| Some(PathBuf::from(name)));
        return check_named(&[("--json", &json), ("--html", &html)], &[]);
    }
    check_named(&named, &[])
}

/// Refuses two documents in one place, a place that cannot be written, and one of the `inputs`.
pub(super) fn check_named(named: &[(&str, &Option<PathBuf>)], inputs: &[PathBuf]) -> Result<()> {
    let given = named
        .iter()
        .filter_map(|(option, path)| path.as_ref().map(|p| (*option, p)));
    let mut on_stdout = Vec::new();
    let mut files: Vec<(&str, PathBuf)> = Vec::new();
    for (option, path) in given {
        if path == Path::new("-") {
            on_stdout.push(option);
            continue;
        }
        writable(option, path)?;
        let place = place(path);
        let name = path.display();
        if let Some((other, _)) = files.iter().find(|(_, taken)| *taken == place) {
            return Err(Error::usage(format!(
                "{other} and {option} both name {name}; give each a file of its own"
            )));
        }
        if inputs.iter().any(|input| self::place(input) == place) {
            return Err(Error::usage(format!(
                "{option} {name}: is what is read, and would be lost; name another file"
            )));
        }
        // Anything may be thrown away twice.
        if path.is_file() || !path.exists() {
            files.push((option, place));
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

/// Where a path leads: links are followed, and a file that is not there yet is named by its folder.
fn place(path: &Path) -> PathBuf {
    let found = std::fs::canonicalize(path);
    found.unwrap_or_else(|_| match (std::fs::canonicalize(folder(path)), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path.to_path_buf(),
    })
}

fn folder(path: &Path) -> &Path {
    path.parent()
        .filter(|p| !p.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

/// Refuses a path that is a folder, lies in none, or cannot be written, so that no result is lost at the end.
fn writable(option: &str, path: &Path) -> Result<()> {
    if path.is_dir() || !folder(path).is_dir() {
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
    let tried = match path.try_exists() {
        // Its text stays as it is. A pipe would wait for its reader, so only files are tried.
        Ok(true) if path.is_file() => OpenOptions::new().append(true).open(path).map(drop),
        Ok(true) => Ok(()),
        Ok(false) => OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(path)
            .and_then(|_| std::fs::remove_file(path)),
        Err(e) => Err(e),
    };
    tried.map_err(|e| {
        Error::usage(format!(
            "{option} {}: {e}; name a place that can be written",
            path.display()
        ))
    })
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
    let on_stdout = documents.iter().any(|(path, _)| path == Path::new("-"));
    let printed = if on_stdout { Ok(()) } else { put(Path::new("-"), table) };
    if documents.is_empty() && default_files {
        documents.push((DEFAULT_JSON.into(), export::json::record));
        documents.push((DEFAULT_HTML.into(), html));
    }
    let written = documents
        .into_iter()
        .map(|(path, make)| put_and_tell(&path, make(record)));
    first_failure(std::iter::once(printed).chain(written))
}

/// Writes a document, and says so.
fn put_and_tell(path: &Path, text: Result<String>) -> Result<()> {
    put(path, &text?)?;
    if path != Path::new("-") {
        tell(&format!("wrote {}", path.display()));
    }
    Ok(())
}

/// Does all of them, whatever comes of the first, and gives the first failure; the others are told of.
fn first_failure(mut attempts: impl Iterator<Item = Result<()>>) -> Result<()> {
    let first = attempts.by_ref().find_map(Result::err);
    for failure in attempts.filter_map(Result::err) {
        tell(&format!("cyclewise: {failure}"));
    }
    first.map_or(Ok(()), Err)
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
