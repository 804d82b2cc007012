//! Output: stdout, and the files that the command line names.

use super::document_file::{self, Fill, folder};
use crate::error::{Error, Result};
use crate::export::table::Look;
use crate::sys::terminal;
use cyclewise_bench::record::clean::cleaned;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Writes a line to stderr, without control characters of what it quotes. Ignores failure: a closed stderr must not end the work.
pub fn tell(line: &str) {
    let _ = writeln!(anstream::stderr(), "{}", cleaned(line));
}

/// How much the tables on stdout may show; `wide` asks for all columns.
pub fn look(wide: bool) -> Look {
    Look::new(terminal::columns(), wide)
}

/// As [`look`], for what is printed on stderr.
pub fn stderr_look(wide: bool) -> Look {
    Look::new(terminal::stderr_columns(), wide)
}

/// Whether this document goes to stdout, which then holds nothing else.
pub fn takes_stdout(path: Option<&PathBuf>) -> bool {
    path.is_some_and(|p| p == Path::new("-"))
}

pub struct Documents {
    pub json: Option<PathBuf>,
    pub csv: Option<PathBuf>,
    pub html: Option<PathBuf>,
}

impl Documents {
    /// As [`check_named`].
    pub fn check(&self, inputs: &[PathBuf]) -> Result<()> {
        let named = [("--json", &self.json), ("--csv", &self.csv), ("--html", &self.html)];
        check_named(&named, inputs)
    }

    /// Writes a document in every format named; prints the table unless a document takes stdout. `formats` render JSON, CSV and HTML.
    pub fn put<T>(&self, document: &T, formats: [fn(&T) -> Result<String>; 3], table: fn(&T) -> String) -> Result<()> {
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

/// Rejects two documents in one file, a file that cannot be written, and a file that is one of the `inputs`.
pub fn check_named(named: &[(&str, &Option<PathBuf>)], inputs: &[PathBuf]) -> Result<()> {
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
        let target = resolve(path);
        let name = path.display();
        if let Some((other, _)) = files.iter().find(|(_, taken)| *taken == target) {
            return Err(Error::usage(format!(
                "{other} and {option} both name {name}; give each its own file"
            )));
        }
        if inputs.iter().any(|input| resolve(input) == target) {
            return Err(Error::usage(format!(
                "{option} {name}: this is an input file and would be overwritten; name another file"
            )));
        }
        // Two documents may go to /dev/null or a pipe.
        if path.is_file() || !path.exists() {
            files.push((option, target));
        }
    }
    match on_stdout.as_slice() {
        [] | [_] => Ok(()),
        many => Err(Error::usage(format!(
            "{} cannot all write to stdout; name a file for all but one",
            many.join(" and ")
        ))),
    }
}

/// The path with links followed; for a file that does not exist yet, those of its folder.
pub fn resolve(path: &Path) -> PathBuf {
    let found = std::fs::canonicalize(path);
    found.unwrap_or_else(|_| match (std::fs::canonicalize(folder(path)), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path.to_path_buf(),
    })
}

/// Rejects a path that is a folder, has no folder, or cannot be written, so that no result is lost at the end.
fn writable(option: &str, path: &Path) -> Result<()> {
    if path.is_dir() || !folder(path).is_dir() {
        let what = if path.is_dir() {
            "is a folder"
        } else {
            "its folder does not exist"
        };
        return Err(Error::usage(format!(
            "{option} {}: {what}; name a file in an existing folder",
            path.display()
        )));
    }
    let tried = match path.try_exists() {
        // Opening for append keeps the content. Opening a pipe would wait for its reader, so only files are tried.
        Ok(true) if path.is_file() => OpenOptions::new().append(true).open(path).map(drop),
        Ok(true) => Ok(()),
        // By another name: who computes the same result may write it at this moment, and it must not be removed.
        Ok(false) => document_file::try_beside(path),
        Err(e) => Err(e),
    };
    tried.map_err(|e| {
        Error::usage(format!(
            "{option} {}: {e}; name a file that can be written",
            path.display()
        ))
    })
}

pub type NamedDocument<'a> = (&'a Option<PathBuf>, &'a dyn Fn() -> Result<String>);

/// Prints the table unless a document takes stdout, then writes every document that has a path.
pub fn put_all(table: impl FnOnce() -> String, documents: &[NamedDocument<'_>]) -> Result<()> {
    if !documents.iter().any(|(path, _)| takes_stdout(path.as_ref())) {
        put(Path::new("-"), &table())?;
    }
    for (path, make) in documents {
        if let Some(path) = path {
            put(path, &make()?)?;
        }
    }
    Ok(())
}

/// A path that an option may name, and what writes its document.
pub type StreamedDocument<'a> = (&'a Option<PathBuf>, Fill<'a>);

/// As [`put_all`], for documents that are too large for memory. Tells each file that was written, and tries all after a failure.
pub fn stream_all(table: impl FnOnce() -> String, documents: &[StreamedDocument<'_>]) -> Result<()> {
    let named = || {
        documents
            .iter()
            .filter_map(|(path, fill)| Some((path.as_ref()?, *fill)))
    };
    let printed = match named().any(|(path, _)| takes_stdout(Some(path))) {
        true => Ok(()),
        false => put(Path::new("-"), &table()),
    };
    let written = named().map(|(path, fill)| {
        stream(path, fill)?;
        if !takes_stdout(Some(path)) {
            tell(&format!("wrote {}", path.display()));
        }
        Ok(())
    });
    first_failure(std::iter::once(printed).chain(written))
}

/// Writes a document, and reports the file on stderr.
pub fn put_and_tell(path: &Path, text: Result<String>) -> Result<()> {
    put(path, &text?)?;
    if path != Path::new("-") {
        tell(&format!("wrote {}", path.display()));
    }
    Ok(())
}

/// Makes every attempt, even after a failure; returns the first failure and reports the others.
pub fn first_failure(mut attempts: impl Iterator<Item = Result<()>>) -> Result<()> {
    let first = attempts.by_ref().find_map(Result::err);
    for failure in attempts.filter_map(Result::err) {
        tell(&format!("cyclewise: {failure}"));
    }
    first.map_or(Ok(()), Err)
}

/// Writes a document to a file, whole or not at all, or to stdout for `-`.
pub fn put(path: &Path, text: &str) -> Result<()> {
    if path == Path::new("-") {
        return on_stdout(|out| out.write_all(text.as_bytes()));
    }
    document_file::write(path, text)
}

/// As [`put`], for a document that is too large for memory.
pub fn stream(path: &Path, fill: Fill<'_>) -> Result<()> {
    if path == Path::new("-") {
        return on_stdout(|out| {
            let mut out = io::BufWriter::new(out);
            fill(&mut out)?;
            // Dropped, it would lose the error.
            out.flush()
        });
    }
    document_file::write_with(path, fill)
}

/// Writes to stdout. A reader that closed the pipe (`| head`) is not an error.
fn on_stdout(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let mut out = anstream::stdout().lock();
    match write(&mut out).and_then(|()| out.flush()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
            let inner = e.get_ref().and_then(|inner| inner.downcast_ref::<Error>());
            Err(inner
                .cloned()
                .unwrap_or_else(|| Error::system("writing to stdout", &e, "name a file instead")))
        }
        _ => Ok(()),
    }
}
