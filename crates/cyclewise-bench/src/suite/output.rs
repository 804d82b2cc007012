//! Where a program's results go: sentences and tables on stdout, and the files that are named.

use super::options::{Action, Options};
use super::{sentence, table};
use crate::error::{Error, Result};
use crate::export;
use crate::files::{document_file, programs};
use crate::record::{Record, Verdict};
use crate::sys::allocations;
use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Writes a line to stderr. Ignores failure: a closed stderr must not end the work.
pub(super) fn tell(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Checks what is named before anything is measured.
///
/// # Errors
/// Exit 2: a file cannot be written, or two documents want stdout. Exit 3: `cyclewise`, which makes pages, is not there.
pub(super) fn check(options: &Options) -> Result<()> {
    if options.memory_limit.is_some() && !allocations::are_counted() {
        let how = "make it #[global_allocator], or leave the option out";
        return Err(Error::usage(format!(
            "--memory-limit needs the allocator cyclewise_bench::Allocations; {how}"
        )));
    }
    if options.action != Action::Bench {
        return Ok(());
    }
    options.baseline.check()?;
    let mut on_stdout = Vec::new();
    for (option, path) in options.files() {
        match path {
            Some(path) if path == Path::new("-") => on_stdout.push(option),
            Some(path) => {
                let refused = |e: io::Error| {
                    let name = path.display();
                    Error::usage(format!("{option} {name}: {e}; name a file that can be written"))
                };
                document_file::try_beside(path).map_err(refused)?;
            }
            None => {}
        }
    }
    if on_stdout.len() > 1 {
        let all = on_stdout.join(" and ");
        return Err(Error::usage(format!(
            "{all} cannot all write to stdout; name a file for all but one"
        )));
    }
    if let Some(path) = &options.html {
        if path == Path::new("-") {
            return Err(Error::usage("--html -: name a file; the page is another program's"));
        }
        page_maker()?;
    }
    Ok(())
}

fn page_maker() -> Result<PathBuf> {
    programs::find("cyclewise", "cyclewise-lab").map_err(|_| {
        let how = "install it (cargo install --path crates/cyclewise-lab in the sources of cyclewise), or write --json and run `cyclewise report` elsewhere";
        Error::unsupported(format!(
            "--html needs the program cyclewise, which is not in PATH; {how}"
        ))
    })
}

/// Prints a record, and `before`, which compares it with an earlier one, and writes it.
///
/// # Errors
/// The first of what could not be written; the others are told.
pub(super) fn write(record: &Record, before: &str, options: &Options) -> Result<()> {
    let [paths @ .., _] = options.files().map(|(_, path)| path);
    let makers: [fn(&Record) -> Result<String>; 4] =
        [export::json::record, export::csv::record, export::bmf::record, |r| {
            Ok(markdown(r))
        }];
    let is_stdout = |path: &Path| path == Path::new("-");
    let mut results = Vec::new();
    if !paths.iter().any(|path| path.as_deref().is_some_and(is_stdout)) {
        results.push(print(&(text(record, colours(options.colour)) + before)));
    }
    for (path, make) in paths.into_iter().zip(makers) {
        let Some(path) = path else { continue };
        results.push(make(record).and_then(|text| match is_stdout(path) {
            true => print(&text),
            false => document_file::write(path, &text).inspect(|()| tell(&format!("wrote {}", path.display()))),
        }));
    }
    if let Some(path) = &options.html {
        results.push(page(record, path));
    }
    let mut failures = results.into_iter().filter_map(Result::err);
    let first = failures.next();
    failures.for_each(|e| tell(&format!("cyclewise-bench: {e}")));
    first.map_or(Ok(()), Err)
}

/// Has `cyclewise report` make the page.
fn page(record: &Record, path: &Path) -> Result<()> {
    let failed = |e: &io::Error| Error::system("cyclewise report", e, "write --json and run it by hand");
    let mut child = Command::new(page_maker()?)
        .args([
            "report".as_ref(),
            "/dev/stdin".as_ref(),
            "--html".as_ref(),
            path.as_os_str(),
        ])
        .stdin(Stdio::piped())
        .spawn()
        .map_err(|e| failed(&e))?;
    let text = export::json::record(record)?;
    // Dropped, its end is the end of the input. Where the program has ended already, its status says why.
    let _ = child.stdin.take().map(|mut input| input.write_all(text.as_bytes()));
    let status = child.wait().map_err(|e| failed(&e))?;
    match status.success() {
        true => Ok(()),
        false => Err(Error::check(format!(
            "cyclewise report made no page ({status}); its reason is above"
        ))),
    }
}

fn print(text: &str) -> Result<()> {
    match io::stdout().lock().write_all(text.as_bytes()) {
        // A reader that closed the pipe is not an error.
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
            Err(Error::system("writing to stdout", &e, "name a file instead"))
        }
        _ => Ok(()),
    }
}

/// Whether stdout gets colour: as asked, and else on a terminal without NO_COLOR.
fn colours(asked: Option<bool>) -> bool {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    asked.unwrap_or_else(|| !refused && !dumb && io::stdout().is_terminal())
}

/// Every group's sentences, then its table, and what to know of the machine.
fn text(record: &Record, colour: bool) -> String {
    let style = |code: &str, text: &str| match colour {
        true => format!("\x1b[{code}m{text}\x1b[0m"),
        false => text.to_string(),
    };
    let paint = |text: &str, verdict: Verdict| match verdict {
        Verdict::Faster => style("32", text),
        Verdict::Slower => style("31", text),
        Verdict::Depends => style("33", text),
        Verdict::Same | Verdict::Undecided | Verdict::None => style("2", text),
    };
    let tsc_hz = record.machine.tsc_hz;
    let mut out = String::new();
    for e in &record.experiments {
        for said in sentence::sentences(e, tsc_hz) {
            let _ = writeln!(out, "{}: {said}", style("1", &e.name));
        }
    }
    for e in &record.experiments {
        let _ = write!(
            out,
            "\n{}\n{}",
            style("1", &e.name),
            table::of_group(e, tsc_hz).plain(paint)
        );
        for note in &e.notes {
            let _ = writeln!(out, "{} {note}", style("2", "note:"));
        }
    }
    if !record.machine.warnings.is_empty() {
        out.push('\n');
    }
    for warning in &record.machine.warnings {
        let _ = writeln!(out, "{} {warning}", style("33", "warning:"));
    }
    for missing in &record.missing {
        let row = missing.variant.as_ref().map_or(String::new(), |row| format!("/{row}"));
        let _ = writeln!(
            out,
            "{} {}{row}: {}",
            style("33", "missing:"),
            missing.experiment,
            missing.why
        );
    }
    out
}

fn markdown(record: &Record) -> String {
    let tsc_hz = record.machine.tsc_hz;
    let mut out = String::new();
    for e in &record.experiments {
        let _ = write!(out, "## {}\n\n", e.name);
        for said in sentence::sentences(e, tsc_hz) {
            let _ = write!(out, "{said}.\n\n");
        }
        let _ = writeln!(out, "{}", table::of_group(e, tsc_hz).markdown());
    }
    for missing in &record.missing {
        let row = missing.variant.as_ref().map_or(String::new(), |row| format!("/{row}"));
        let _ = writeln!(out, "Missing: {}{row}: {}", missing.experiment, missing.why);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn a_file_that_cannot_be_written_is_told_before_anything_is_measured() {
        let options = Options {
            action: Action::Bench,
            json: Some(PathBuf::from("/proc/no/such/folder/x.json")),
            ..Options::default()
        };
        assert!(check(&options).unwrap_err().message.starts_with("--json /proc/"));
        let options = Options {
            action: Action::Bench,
            json: Some("-".into()),
            csv: Some("-".into()),
            ..Options::default()
        };
        assert!(check(&options).unwrap_err().message.contains("--json and --csv"));
        assert!(check(&Options::default()).is_ok());
    }

    #[test]
    fn colour_is_what_was_asked_for() {
        assert!(colours(Some(true)) && !colours(Some(false)));
        let mut record = Record::default();
        record
            .machine
            .warnings
            .push(crate::record::Warning::Other("hot".to_string()));
        assert!(text(&record, true).contains("\x1b[33mwarning:\x1b[0m hot"));
        assert_eq!(text(&record, false), "\nwarning: hot\n");
    }
}
