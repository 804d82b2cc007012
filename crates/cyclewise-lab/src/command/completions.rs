//! The command line as shells complete it.
//!
//! The definition of the command line has the options. Experiments are names that only this program knows, so
//! they are added here as values; the command line itself also takes what is not among them, and says what is nearest.

use super::cli::Cli;
use crate::experiment::ALL;
use clap::builder::PossibleValuesParser;
use clap::{Arg, Command, CommandFactory, ValueHint};

/// The command line, with the values that can be named.
pub(super) fn definition() -> Command {
    let experiments = || PossibleValuesParser::new(ALL.iter().map(|experiment| experiment.name));
    let commands = |arg: Arg| arg.value_hint(ValueHint::CommandString);
    let with_experiments = |command: Command| command.mut_arg("experiments", |arg| arg.value_parser(experiments()));
    Cli::command()
        .mut_subcommand("run", with_experiments)
        .mut_subcommand("list", with_experiments)
        .mut_subcommand("time", |time| {
            let lines = [
                "commands",
                "reference",
                "setup",
                "prepare",
                "conclude",
                "cleanup",
                "shell",
            ];
            lines.into_iter().fold(time, |time, line| time.mut_arg(line, commands))
        })
}
