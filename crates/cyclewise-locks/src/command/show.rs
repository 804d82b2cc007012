//! The report and its documents, after the run.

use super::anonymous;
use super::args::LocksArgs;
use crate::error::{Error, Result};
use crate::export;
use crate::record::{Exit, Locks};
use cyclewise_bench::machine::Key;
use cyclewise_report::export::json;
use cyclewise_report::export::table::Look;
use cyclewise_report::files::document_file;
use cyclewise_report::files::output::{self, tell};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Prints on stderr, unless a document takes stdout.
fn print(text: impl FnOnce(Look) -> String, args: &LocksArgs, document: Option<&File>) {
    if document.is_none() {
        // A stderr that is closed must not change how this ends.
        let _ = anstream::stderr().write_all(text(output::stderr_look(args.wide)).as_bytes());
    }
}

/// Prints what was counted, before the program is run again and costs are measured.
pub(super) fn counts(report: &Locks, args: &LocksArgs, document: Option<&File>) {
    print(
        |look| export::table::counts(report, args.lines as usize, look),
        args,
        document,
    );
}

/// Prints the forecast, and writes the documents; `document` is what stdout was. With a key they have no name of this machine or user.
///
/// # Errors
/// The first document that could not be written. The others are written.
pub(super) fn rest(report: &Locks, args: &LocksArgs, key: Option<&Key>, document: Option<&File>) -> Result<()> {
    print(|look| export::table::forecast(report, look), args, document);
    let hidden = key.map(|key| anonymous::hidden(report, key)).transpose()?;
    let report = hidden.as_ref().unwrap_or(report);
    let json = args.json.as_ref().map(|path| put(path, json::pretty(report), document));
    let html = args
        .html
        .as_ref()
        .map(|path| put(path, export::html::render_locks(report), document));
    output::first_failure([json, html].into_iter().flatten())
}

fn put(path: &PathBuf, text: Result<String>, document: Option<&File>) -> Result<()> {
    let text = text?;
    match document {
        Some(mut stdout) if output::takes_stdout(Some(path)) => match stdout.write_all(text.as_bytes()) {
            // A reader that closed the pipe is not an error.
            Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
                Err(Error::system("writing to stdout", &e, "name a file instead"))
            }
            _ => Ok(()),
        },
        _ => {
            document_file::write(path, &text)?;
            tell(&format!("wrote {}", Path::new(path).display()));
            Ok(())
        }
    }
}

/// How the command ends: with the program's status. A document that could not be written is told, and is the status only where
/// the program itself succeeded.
///
/// # Errors
/// A document could not be written, and the program succeeded.
pub(super) fn ended(shown: Result<()>, exit: Exit) -> Result<ExitCode> {
    match (shown, exit.status()) {
        (Err(error), 0) => Err(error),
        (Err(error), status) => {
            tell(&format!("cyclewise: {error}"));
            Ok(ExitCode::from(status))
        }
        (Ok(()), status) => Ok(ExitCode::from(status)),
    }
}
