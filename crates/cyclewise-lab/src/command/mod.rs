//! The `cyclewise` command: one file per subcommand, and what they share.

mod anonymous;
mod cli;
mod common;
mod compare;
mod completions;
mod doctor;
mod limits;
mod list;
mod missing;
mod object;
mod planned_run;
mod product;
mod record_files;
mod report;
mod run;
mod run_once;
mod runs;
mod time;
mod time_args;
mod verify;

use crate::error::{Error, Result};
use crate::experiment::elided;
use crate::sys::file_size;
use clap::Parser;
use cyclewise::error::Refusal;
use cyclewise_report::files::output::tell;
use std::process::ExitCode;

/// Parses and runs the command line; returns the exit status (see [`Status`](crate::error::Status)).
///
/// `single` is the result of opting in to single mode, which only `main` may do.
pub fn main(single: std::result::Result<(), Refusal>) -> ExitCode {
    elided::consent(single);
    if let Some(error) = product::start(std::env::args_os()) {
        return failed(&error);
    }
    if let Some(code) = object::start(std::env::args_os()) {
        return code;
    }
    let cli = cli::Cli::parse();
    // A limit on the size of files is then an error of the write, on stdout too, not the end of the process.
    file_size::refuse_beyond_limit();
    match dispatch(cli.command) {
        Ok(code) => code,
        Err(error) => failed(&error),
    }
}

/// Says why, and gives the exit status.
fn failed(error: &Error) -> ExitCode {
    tell(&format!("cyclewise: {error}"));
    ExitCode::from(error.status as u8)
}

/// Runs a subcommand. The exit status is 0, but for those that have another program's.
fn dispatch(command: cli::Command) -> Result<ExitCode> {
    match command {
        cli::Command::Locks { .. } => return Err(product::not_first()),
        cli::Command::Run(args) => run::run(&args),
        cli::Command::List { experiments, json } => list::list(&experiments, json),
        cli::Command::Doctor { json, anonymous } => doctor::doctor(json, anonymous.as_ref()),
        cli::Command::Compare(args) => compare::compare(&args),
        cli::Command::Limits(args) => limits::limits(&args),
        cli::Command::Report {
            records,
            html,
            json,
            csv,
            wide,
            lines,
        } => report::report(
            &records,
            &cyclewise_report::files::output::Documents { json, csv, html },
            wide,
            lines as usize,
        ),
        cli::Command::PlannedRun { words } => planned_run::check(&words),
        cli::Command::Simulate { .. } | cli::Command::Recommend { .. } | cli::Command::Fleet { .. } => {
            return Err(product::not_first());
        }
        cli::Command::Time(args) => time::time(&args),
        cli::Command::Verify(args) => verify::verify(&args),
        cli::Command::Docs(docs) => docs.run("cyclewise", completions::definition()),
    }
    .map(|()| ExitCode::SUCCESS)
}
