//! The command that a job is planned for: parsed by the definition that will parse it on the nodes.

use crate::error::{Error, Result, Status};
use crate::machine::Key;
use crate::record::planned;
use cyclewise_report::files::programs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub(super) struct Planned {
    /// Its words, with the key's file replaced by its copy.
    pub(super) words: Vec<String>,
    /// What the key of `--anonymous` contains; its copy is [`KEY`].
    pub(super) key: Option<Vec<u8>>,
}

/// The copy of the key.
pub(super) const KEY: &str = "anonymous.key";

/// The option of `run` and `verify` that names the key.
const ANONYMOUS: &str = "--anonymous";

/// The lab's program, which measures records: beside this one, or in PATH.
///
/// # Errors
/// Exit 3: it is not there.
pub(super) fn cyclewise() -> Result<PathBuf> {
    programs::find("cyclewise", "cyclewise-lab")
}

/// Parses and checks the words of a command.
///
/// # Errors
/// Exit 2: it is not `run` or `verify`, has wrong arguments, or names an output. Exit 3: there is no `cyclewise` to ask.
pub(super) fn parse(words: &[String]) -> Result<Planned> {
    let first = words.first().map_or("", String::as_str);
    if !["run", "verify"].contains(&first) {
        let why = format!("fleet plan: a job runs `run …` or `verify …`, not {first:?}");
        return Err(Error::usage(why).in_one_line());
    }
    let key = match files_of_run(words)?.into_iter().find(|(option, _)| option == ANONYMOUS) {
        None => None,
        Some((_, path)) => {
            let path = Path::new(&path);
            Key::load(path)?;
            let read = std::fs::read(path);
            Some(read.map_err(|e| Error::usage(format!("{ANONYMOUS} {}: {e}", path.display())).in_one_line())?)
        }
    };
    let words = with_copy_of_key(words);
    Ok(Planned { words, key })
}

/// The words, with [`KEY`] for the file of the key.
fn with_copy_of_key(words: &[String]) -> Vec<String> {
    let mut is_value = false;
    let word = |word: &String| match std::mem::replace(&mut is_value, word == ANONYMOUS) {
        true => KEY.to_owned(),
        false if word.starts_with("--anonymous=") => format!("{ANONYMOUS}={KEY}"),
        false => word.clone(),
    };
    words.iter().map(word).collect()
}

/// Options of `run …` or `verify …` that name files, with the files' names; those that a job's scripts give are refused. The lab's program
/// parses them, as it will on the nodes.
fn files_of_run(words: &[String]) -> Result<Vec<(String, String)>> {
    let program = cyclewise()?;
    let mut asked = Command::new(&program);
    asked.arg("planned-run").args(words).stdin(Stdio::null());
    let output = asked
        .output()
        .map_err(|e| Error::system(&program.display().to_string(), &e, "build it again, for this machine"))?;
    let said = planned::from_text(&program, &output.stdout);
    // Of a command that is refused, files may be named or not.
    let files = if output.status.success() {
        said?
    } else {
        said.unwrap_or_default()
    };
    if let Some((option, _)) = files.iter().find(|(option, _)| option != ANONYMOUS) {
        return Err(Error::usage(format!(
            "fleet plan: the job's scripts say what each task makes and where; leave {option} out of the planned command"
        )));
    }
    if output.status.success() {
        return Ok(files);
    }
    let why = String::from_utf8_lossy(&output.stderr);
    Err(match why.trim().strip_prefix("cyclewise: ") {
        Some(why) => Error::usage(why),
        None if output.status.code() == Some(Status::Usage as i32) => cannot_be_run(&why),
        None => Error::unsupported(format!("{}: {}: {}", program.display(), output.status, why.trim())),
    }
    .in_one_line())
}

/// The error of a planned command, without clap's usage.
fn cannot_be_run(text: &str) -> Error {
    // Names of missing arguments have lines of their own.
    let lines = text.lines().map(str::trim);
    let what: Vec<&str> = lines
        .take_while(|line| !line.starts_with("Usage:") && !line.is_empty())
        .collect();
    let what = what.join(" ");
    let what = what.strip_prefix("error: ").unwrap_or(&what);
    Error::usage(format!("fleet plan: the planned command cannot be run: {what}"))
}
