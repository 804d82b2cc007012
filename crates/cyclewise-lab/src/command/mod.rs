//! The `cyclewise` command: one file per subcommand, and what they share.

mod cli;
mod compare;
mod cpu_choice;
mod doctor;
mod fit;
mod list;
mod output;

mod progress;
mod recommend;
mod report;
mod run;
mod session;
mod simulate;
mod time;
mod verify;

use crate::error::{Error, Result, Status};
use crate::experiment::elided;
use clap::Parser;
use cyclewise::error::Refusal;
use std::process::ExitCode;

/// Parses and runs the command line; returns the exit status (see [`Status`]).
///
/// `single` is the result of opting in to single mode, which only `main` may do.
pub fn main(single: std::result::Result<(), Refusal>) -> ExitCode {
    elided::consent(single);
    let cli = cli::Cli::parse();
    match dispatch(cli.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            progress::tell(&format!("cyclewise: {error}"));
            ExitCode::from(error.status as u8)
        }
    }
}

fn dispatch(command: cli::Command) -> Result<()> {
    match command {
        cli::Command::Run(args) => run::run(&args),
        cli::Command::List { json } => list::list(json),
        cli::Command::Doctor { json } => doctor::doctor(json),
        cli::Command::Compare(args) => compare::compare(&args),
        cli::Command::Report {
            records,
            html,
            json,
            csv,
        } => report::report(&records, &output::Documents { json, csv, html }),
        cli::Command::Simulate(args) => simulate::simulate(args),
        cli::Command::Recommend(args) => recommend::recommend(&args),
        cli::Command::Time(args) => time::time(&args),
        cli::Command::Verify(args) => verify::verify(&args),
    }
}

/// Ends a subcommand that finished only part of its work: reports all failures and returns the worst.
fn finish(mut failures: Vec<Error>) -> Result<()> {
    let Some(worst) = (0..failures.len()).max_by_key(|i| failures[*i].status == Status::CheckFailed) else {
        return Ok(());
    };
    let worst = failures.remove(worst);
    for other in failures {
        progress::tell(&format!("cyclewise: {other}"));
    }
    Err(worst)
}
