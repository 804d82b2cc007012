//! The sweep that a job is planned for: parsed by the definition that will parse it on the nodes.

use super::cli::{Cli, Command};
use super::simulate;
use crate::record::Sweep;
use crate::sweep::machines::{self, Source};
use clap::Parser;
use cyclewise_bench::error::{Error, Result};

/// A planned sweep.
pub struct PlannedSweep {
    /// The sweep.
    pub sweep: Sweep,
    /// Of each `--machine`: the name of one that the program has, or of the one in a file, and the file's text.
    pub machines: Vec<(String, Option<String>)>,
    /// Options that say what a task makes and where, and whether they are given.
    pub outputs: [(&'static str, bool); 5],
}

/// Parses and checks `simulate …`.
///
/// # Errors
/// Exit 2: it has wrong arguments, or is not a sweep.
pub fn planned_sweep(words: &[String]) -> Result<PlannedSweep> {
    let argv = std::iter::once("cyclewise").chain(words.iter().map(String::as_str));
    let args = match Cli::try_parse_from(argv) {
        Ok(Cli {
            command: Command::Simulate(args),
        }) if args.command.is_none() => args.sweep,
        Ok(_) => {
            return Err(Error::usage(
                "fleet plan: only a sweep can be planned, `simulate WORKLOAD… --machine NAME …`, not its subcommands",
            ));
        }
        Err(error) => return Err(cannot_be_run(&error.to_string())),
    };
    if args.matrix.from.is_some() {
        return Err(Error::usage(
            "fleet plan: a matrix cannot be planned; make a machine file of it with `simulate machine --from`, and plan --machine FILE",
        ));
    }
    let outputs = [
        ("--json", args.json.is_some()),
        ("--csv", args.csv.is_some()),
        ("--html", args.html.is_some()),
        ("--shard", args.shard.is_some()),
        ("--if-missing", args.if_missing),
    ];
    let (mut found, mut files) = (Vec::new(), Vec::new());
    for name in &args.machines {
        let Source {
            machine,
            text,
            is_preset,
        } = machines::source(name)?;
        files.push(match is_preset {
            true => (name.clone(), None),
            false => (machine.name.clone(), Some(text)),
        });
        found.push(machine);
    }
    // Every task writes JSON.
    if let Some(machine) = found.iter().find(|machine| machine.topology_only) {
        return Err(Error::usage(format!(
            "fleet plan: {} is topology only, and the tasks' documents would have times; give a machine with a contended row",
            machine.name
        )));
    }
    Ok(PlannedSweep {
        sweep: simulate::sweep(&args, found)?,
        machines: files,
        outputs,
    })
}

/// The error of a planned command, without clap's usage.
pub fn cannot_be_run(text: &str) -> Error {
    // Names of missing arguments have lines of their own.
    let lines = text.lines().map(str::trim);
    let what: Vec<&str> = lines
        .take_while(|line| !line.starts_with("Usage:") && !line.is_empty())
        .collect();
    let what = what.join(" ");
    let what = what.strip_prefix("error: ").unwrap_or(&what);
    Error::usage(format!("fleet plan: the planned command cannot be run: {what}")).in_one_line()
}
