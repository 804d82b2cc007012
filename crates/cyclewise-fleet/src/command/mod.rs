//! The `cyclewise-fleet` command: many machines, using an existing scheduler. One file a subcommand, and what they share.

mod cli;
mod join;
mod names;
mod plan;
mod planned;
mod report;
mod sbatch;

use clap::{CommandFactory, FromArgMatches};
use cli::{Cli, Command};
use cyclewise_bench::sys::file_size;
use cyclewise_report::files::output::tell;
use std::ffi::OsStr;
use std::path::Path;
use std::process::ExitCode;

/// Parses and runs the command line; returns the exit status (see [`Status`](cyclewise_bench::error::Status)).
pub fn main() -> ExitCode {
    let started = std::env::args_os().next();
    let started = started.as_ref().and_then(|name| Path::new(name).file_name());
    // `cyclewise fleet` starts this program by its own name.
    let is_subcommand = started == Some(OsStr::new("cyclewise"));
    let (name, usage) = match is_subcommand {
        true => ("cyclewise", "cyclewise fleet"),
        false => ("cyclewise-fleet", "cyclewise-fleet"),
    };
    let matches = Cli::command().bin_name(usage).get_matches();
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    // A limit on the size of files is then an error of the write, on stdout too, not the end of the process.
    file_size::refuse_beyond_limit();
    let done = match &cli.command {
        Command::Plan(args) => plan::plan(args),
        Command::Names { key, names } => names::names(key, names),
        Command::Join(args) => join::join(args),
        Command::Report(args) => report::report(args),
        Command::Docs(docs) => docs.run("cyclewise-fleet", Cli::command()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tell(&format!("{name}: {error}"));
            ExitCode::from(error.status as u8)
        }
    }
}
