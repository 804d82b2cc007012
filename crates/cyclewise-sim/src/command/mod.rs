//! The `cyclewise-sim` command: one file per subcommand, and what they share.

mod cli;
mod fit;
mod lists;
mod machine;
mod planned;
mod recommend;
mod report;
mod simulate;

pub use planned::{PlannedSweep, cannot_be_run, planned_sweep};

use clap::{CommandFactory, Parser};
use cyclewise_bench::sys::file_size;
use cyclewise_report::files::output::{Documents, tell};
use std::path::Path;
use std::process::ExitCode;

/// Parses and runs the command line; returns the exit status (see [`Status`](cyclewise_bench::error::Status)).
pub fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    // A limit on the size of files is then an error of the write, on stdout too, not the end of the process.
    file_size::refuse_beyond_limit();
    let done = match cli.command {
        cli::Command::Simulate(args) => simulate::simulate(*args),
        cli::Command::Recommend(args) => recommend::recommend(&args),
        cli::Command::Report {
            simulations,
            html,
            json,
            csv,
        } => report::report(&simulations, &Documents { json, csv, html }),
        cli::Command::Docs(docs) => docs.run("cyclewise-sim", cli::Cli::command()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tell(&format!("{}: {error}", name()));
            ExitCode::from(error.status as u8)
        }
    }
}

/// The program's name in errors: that by which it was started, which is `cyclewise` for `cyclewise simulate`.
fn name() -> String {
    let started = std::env::args_os().next();
    let name = started.as_ref().and_then(|name| Path::new(name).file_name());
    name.map_or_else(|| "cyclewise-sim".into(), |name| name.to_string_lossy().into_owned())
}
