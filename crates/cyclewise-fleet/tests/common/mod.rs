//! The command, and the programs that it starts.
#![allow(dead_code, reason = "each test program uses a part")]
#![allow(unreachable_pub, reason = "each test program is a crate of its own")]

#[path = "../../../cyclewise-locks/tests/common/executable.rs"]
pub(crate) mod executable;
pub mod programs;
#[path = "../../../cyclewise-lab/tests/common/script.rs"]
mod script;
#[path = "../../../cyclewise-locks/tests/common/signals.rs"]
mod signals;

pub use script::*;

use std::path::Path;
use std::process::Command;

/// What `cyclewise` with these arguments starts, with signals as at a terminal: of `fleet …` this package's program, which finds `cyclewise`
/// beside itself.
pub fn command(args: &[&str]) -> Command {
    let cyclewise = programs::cyclewise();
    let (program, args) = match args.split_first() {
        Some((&"fleet", args)) => (Path::new(env!("CARGO_BIN_EXE_cyclewise-fleet")), args),
        _ => (cyclewise, args),
    };
    signals::with_default_signals(Command::new(program).args(args))
}
