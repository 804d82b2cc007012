//! `cyclewise completions`: what a shell offers after TAB.
//!
//! The definition of the command line has the options. Experiments are names that only this program knows, so
//! they are added here as values; the command line itself also takes what is not among them, and says what is nearest.

use super::cli::{Cli, Shell};
use crate::error::Result;
use crate::experiment::ALL;
use clap::builder::PossibleValuesParser;
use clap::{Arg, Command, CommandFactory, ValueHint};
use clap_complete::aot;
use cyclewise_report::files::output;
use std::path::Path;

/// The program, as it is typed.
const NAME: &str = "cyclewise";

pub(super) fn print(shell: Shell) -> Result<()> {
    output::put(Path::new("-"), &script(shell))
}

/// The completions for a shell, in its own language.
pub(super) fn script(shell: Shell) -> String {
    let shell = match shell {
        Shell::Bash => aot::Shell::Bash,
        Shell::Fish => aot::Shell::Fish,
        Shell::Zsh => aot::Shell::Zsh,
    };
    let mut script = Vec::new();
    let mut definition = definition();
    aot::generate(shell, &mut definition, NAME, &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    // bash's generator lists what the help hides.
    hidden(&definition).fold(script, |script, option| script.replace(&format!(" {option} "), " "))
}

/// The command line without the subcommands that no help shows: they are this program's own affair.
fn shown(definition: &Command) -> Command {
    let shown = definition
        .get_subcommands()
        .filter(|subcommand| !subcommand.is_hide_set());
    let about = definition.get_about().cloned().unwrap_or_default();
    Command::new(NAME)
        .version(env!("CARGO_PKG_VERSION"))
        .about(about)
        .subcommands(shown.cloned())
}

/// The options that no help shows.
fn hidden(definition: &Command) -> impl Iterator<Item = String> {
    let arguments = definition.get_subcommands().flat_map(Command::get_arguments);
    let long = arguments.filter(|arg| arg.is_hide_set()).filter_map(Arg::get_long);
    long.map(|name| format!("--{name}"))
}

/// The command line, with the values that can be named.
fn definition() -> Command {
    let experiments = || PossibleValuesParser::new(ALL.iter().map(|experiment| experiment.name));
    let commands = |arg: Arg| arg.value_hint(ValueHint::CommandString);
    shown(&Cli::command())
        .mut_subcommand("run", |run| {
            run.mut_arg("experiments", |arg| arg.value_parser(experiments()))
        })
        .mut_subcommand("time", |time| {
            time.mut_arg("commands", commands).mut_arg("prepare", commands)
        })
}
