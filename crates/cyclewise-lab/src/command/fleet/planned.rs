//! The command that a job is planned for: parsed by the definition that will parse it on the nodes.

use crate::command::anonymous;
use crate::command::cli::{Cli, Command, RunArgs};
use crate::error::{Error, Result};
use crate::experiment;
use crate::record::simulation::Sweep;
use clap::Parser;
use cyclewise_sim::command::{cannot_be_run, planned_sweep};

/// A planned command.
pub(super) struct Planned {
    /// Its words, with each machine file's name replaced by that of its copy.
    pub(super) words: Vec<String>,
    pub(super) kind: Kind,
    /// Copies of machine files: the name below the job's folder, and the text.
    pub(super) machine_files: Vec<(String, String)>,
    /// What the key of `--anonymous` contains; its copy is [`KEY`].
    pub(super) key: Option<Vec<u8>>,
}

pub(super) enum Kind {
    Sweep(Box<Sweep>),
    Records,
}

/// The folder of the machine files' copies.
pub(super) const MACHINES: &str = "machines";

/// The copy of the key.
pub(super) const KEY: &str = "anonymous.key";

/// Parses and checks the words of a command.
///
/// # Errors
/// Exit 2: it is not `simulate` or `run`, has wrong arguments, or names an output.
pub(super) fn parse(words: &[String]) -> Result<Planned> {
    if words.first().is_some_and(|word| word == "simulate") {
        return sweep(words);
    }
    match command(words)? {
        Command::Run(args) => records(words, &args),
        _ => Err(Error::usage(format!(
            "fleet plan: a job is made of `simulate …` or `run …`, not of {:?}",
            words.first().map_or("", String::as_str)
        ))),
    }
}

fn command(words: &[String]) -> Result<Command> {
    let argv = std::iter::once("cyclewise").chain(words.iter().map(String::as_str));
    match Cli::try_parse_from(argv) {
        Ok(cli) => Ok(cli.command),
        Err(error) => Err(cannot_be_run(&error)),
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
        kind: Kind::Sweep(Box::new(planned.sweep)),
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

fn records(words: &[String], args: &RunArgs) -> Result<Planned> {
    let common = &args.common;
    let ours = [
        ("--json", common.json.is_some()),
        ("--csv", common.csv.is_some()),
        ("--csv-comparisons", common.csv_comparisons.is_some()),
        ("--bmf", common.bmf.is_some()),
        ("--html", common.html.is_some()),
        ("--run-of", args.run_of.is_some()),
    ];
    refuse_ours(&ours)?;
    experiment::select(&args.experiments)?;
    let key = match &common.anonymous {
        None => None,
        Some(path) => {
            anonymous::key(Some(path))?;
            let read = std::fs::read(path);
            Some(read.map_err(|e| Error::usage(format!("--anonymous {}: {e}", path.display())).in_one_line())?)
        }
    };
    let copy = key.iter().map(|_| KEY.to_owned()).collect();
    Ok(Planned {
        words: with_values(words, "--anonymous", copy),
        kind: Kind::Records,
        machine_files: Vec::new(),
        key,
    })
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
