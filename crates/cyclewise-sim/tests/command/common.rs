//! The command.
#![allow(unreachable_pub, reason = "the signals are other test programs' too")]

#[path = "../../../cyclewise-lab/tests/common/script.rs"]
mod script;
#[path = "../../../cyclewise-locks/tests/common/signals.rs"]
mod signals;

pub(crate) use script::{Folder, cyclewise as cyclewise_sim, refused, text, with, words};

use std::process::Command;

/// The command with these arguments, with signals as at a terminal.
pub(crate) fn command(args: &[&str]) -> Command {
    signals::with_default_signals(Command::new(env!("CARGO_BIN_EXE_cyclewise-sim")).args(args))
}
