//! The command that a job is planned for: parsed by the definition that will parse it on the nodes.

use crate::error::{Error, Result, Status};
use crate::machine::Key;
use crate::record::planned;
use crate::record::simulation::Sweep;
use cyclewise_report::files::programs;
use cyclewise_sim::command::{cannot_be_run, planned_sweep};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A planned command.
pub(super) struct Planned {
    /// Its words, with each machine file's name replaced by that of its copy.
    pub(super) words: Vec<String>,
    pub(super) kind: JobKind,
    /// Copies of machine files: the name below the job's folder, and the text.
    pub(super) machine_files: Vec<(String, String)>,
    /// What the key of `--anonymous` contains; its copy is [`KEY`].
    pub(super) key: Option<Vec<u8>>,
}

pub(super) enum JobKind {
    Sweep(Box<Sweep>),
    Records,
}

/// The folder of the machine files' copies.
pub(super) const MACHINES: &str = "machines";

/// The copy of the key.
pub(super) const KEY: &str = "anonymous.key";

/// The lab's program, which measures records and starts the simulator: beside this one, or in PATH.
///
/// # Errors
/// Exit 3: it is not there.
pub(super) fn cyclewise() -> Result<PathBuf> {
    programs::find("cyclewise", "cyclewise-lab")
}

/// Parses and checks the words of a command.
///
/// # Errors
/// Exit 2: it is not `simulate`, `run` or `verify`, has wrong arguments, or names an output. Exit 3: of `run` and `verify`, there is no `cyclewise` to ask.
pub(super) fn parse(words: &[String]) -> Result<Planned> {
    match words.first().map_or("", String::as_str) {
        "simulate" => sweep(words),
        "run" | "verify" => records(words),
        other => Err(Error::usage(format!(
            "fleet plan: a job runs `simulate …`, `run …` or `verify …`, not {other:?}"
        ))
        .in_one_line()),
    }
}

fn sweep(words: &[String]) -> Result<Planned> {
    let planned = planned_sweep(words)?;
    refuse_ours(&planned.outputs)?;
    let (mut names, mut copies) = (Vec::new(), Vec::new());
    for (name, file) in planned.machines {
        names.push(match file {
            None => name,
            Some(text) => {
                let copy = format!("{MACHINES}/{}-{}.toml", copies.len() + 1, plain(&name));
                copies.push((copy.clone(), text));
                copy
            }
        });
    }
    Ok(Planned {
        words: with_values(words, "--machine", names),
        kind: JobKind::Sweep(Box::new(planned.sweep)),
        machine_files: copies,
        key: None,
    })
}

/// The words, with each value of an option replaced by the next of `values`.
fn with_values(words: &[String], option: &str, values: Vec<String>) -> Vec<String> {
    let mut values = values.into_iter();
    let mut out: Vec<String> = Vec::new();
    for word in words {
        let assigned = || word.strip_prefix(option).is_some_and(|rest| rest.starts_with('='));
        let value = if out.last().is_some_and(|w| w == option) {
            values.next()
        } else if assigned() {
            values.next().map(|value| format!("{option}={value}"))
        } else {
            None
        };
        out.push(value.unwrap_or_else(|| word.clone()));
    }
    out
}

/// A name of letters, digits and `-` alone.
fn plain(name: &str) -> String {
    let letters = |c: char| {
        if c.is_ascii_alphanumeric() {
            c.to_ascii_lowercase()
        } else {
            '-'
        }
    };
    name.chars().map(letters).collect()
}

fn records(words: &[String]) -> Result<Planned> {
    let files = files_of_run(words)?;
    let key = match files.iter().find(|(option, _)| option == "--anonymous") {
        None => None,
        Some((_, path)) => {
            let path = Path::new(path);
            Key::load(path)?;
            let read = std::fs::read(path);
            Some(read.map_err(|e| Error::usage(format!("--anonymous {}: {e}", path.display())).in_one_line())?)
        }
    };
    let copy = key.iter().map(|_| KEY.to_owned()).collect();
    Ok(Planned {
        words: with_values(words, "--anonymous", copy),
        kind: JobKind::Records,
        machine_files: Vec::new(),
        key,
    })
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
    let ours = files.iter().filter(|(option, _)| option != "--anonymous");
    refuse_ours(&ours.map(|(option, _)| (option.as_str(), true)).collect::<Vec<_>>())?;
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

/// Rejects options that the job's scripts give to the command.
fn refuse_ours(options: &[(&str, bool)]) -> Result<()> {
    match options.iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((option, _)) => Err(Error::usage(format!(
            "fleet plan: the job's scripts say what each task makes and where; leave {option} out of the planned command"
        ))),
    }
}
