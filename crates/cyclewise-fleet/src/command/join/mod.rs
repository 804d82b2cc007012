//! `cyclewise fleet join`.

mod records;
mod sweep;
mod target;

use crate::command::cli::JoinArgs;
use crate::error::{Error, Result};
use crate::export::job::command_line;
use crate::files;
use crate::record::fleet::{Problem, ProblemKind};
use crate::record::plan::{self, FILE, Plan, Work};
use cyclewise_report::files::output::{self, tell};
use std::io::ErrorKind;
use std::path::Path;

pub(super) fn join(args: &JoinArgs) -> Result<()> {
    let plan = read_plan(&args.dir)?;
    let is_sweep = match plan.as_ref().map(|p| &p.work) {
        Some(work) => matches!(work, Work::Sweep { .. }),
        None => files::is_sweep(&args.dir)?,
    };
    if is_sweep {
        sweep::join(args, plan.as_ref())
    } else {
        records::join(args, plan.as_ref())
    }
}

/// The folder's plan; `None` if it has none.
fn read_plan(dir: &Path) -> Result<Option<Plan>> {
    let path = dir.join(FILE);
    let name = path.display();
    // Reading a FIFO would wait.
    if path.metadata().is_ok_and(|m| !m.is_file()) {
        return Err(Error::usage(format!("{name} is no file; remove it, or give another folder")).in_one_line());
    }
    match std::fs::read_to_string(&path) {
        Ok(text) => plan::from_str(&name.to_string(), &text).map(Some),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        Err(e) => Err(Error::usage(format!("{name}: {e}; give a folder that can be read")).in_one_line()),
    }
}

/// The most lines of what is missing or wrong on the terminal.
const NAMED: usize = 1000;

/// These lines, or the first of them and how many more there are.
fn named(lines: impl Iterator<Item = String>) -> String {
    let mut lines = lines;
    let mut text: String = lines.by_ref().take(NAMED).map(|line| line + "\n").collect();
    let more = lines.count();
    if more > 0 {
        text += &format!("and {more} more\n");
    }
    text
}

/// What a problem is, at the beginning of its line.
fn kind(kind: ProblemKind) -> &'static str {
    match kind {
        ProblemKind::Missing => "missing",
        ProblemKind::Torn => "torn",
        ProblemKind::Version => "another version",
        ProblemKind::Duplicate => "duplicate",
        ProblemKind::Foreign => "foreign",
        ProblemKind::Mangled => "changed",
    }
}

fn problem(problem: &Problem) -> String {
    format!("{}: {}: {}", kind(problem.kind), problem.name, problem.why)
}

/// Prints what was found; on stderr, if the document goes to stdout.
fn say(text: &str, target: &Path) -> Result<()> {
    if target == Path::new("-") {
        tell(text.trim_end());
        return Ok(());
    }
    output::put(Path::new("-"), text)
}

/// The folder as a word for a shell, from its root.
fn folder_word(dir: &Path) -> Result<String> {
    let dir = std::path::absolute(dir).map_err(|e| Error::system("the folder's path", &e, "give it in full"))?;
    command_line([dir.to_string_lossy()])
}
