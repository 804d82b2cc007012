//! The command, and the programs that it starts.
#![allow(dead_code, reason = "each test program uses a part")]
#![allow(unreachable_pub, reason = "each test program is a crate of its own")]

#[path = "../../../cyclewise-locks/tests/common/executable.rs"]
pub(crate) mod executable;
mod other_programs;
mod script;
#[path = "../../../cyclewise-locks/tests/common/signals.rs"]
mod signals;

pub use script::*;

use std::path::Path;
use std::process::Command;

/// Has the simulator beside the command, which starts it.
pub fn simulator() {
    let folder = Path::new(env!("CARGO_BIN_EXE_cyclewise")).parent().unwrap();
    other_programs::built(folder, &other_programs::SIMULATOR);
}

/// The command with these arguments, with signals as at a terminal.
pub fn command(args: &[&str]) -> Command {
    if matches!(args.first(), Some(&("simulate" | "recommend"))) {
        simulator();
    }
    signals::with_default_signals(Command::new(env!("CARGO_BIN_EXE_cyclewise")).args(args))
}
