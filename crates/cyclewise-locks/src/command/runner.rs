//! What cargo starts in place of a program that it built: counts the program, and leaves the counts in a folder.

use super::args::LocksRunnerArgs;
use super::cargo::Running;
use super::program::Program;
use super::{PartOptions, count_one, show, way, ways};
use crate::error::Result;
use cyclewise_bench::sys::interrupt;
use std::process::ExitCode;

pub(super) fn locks_runner(args: &LocksRunnerArgs) -> Result<ExitCode> {
    let program = Program::find(&args.program)?;
    let way = way::choose(Some(args.by), ways())?;
    way.check(&program)?;
    interrupt::listen();
    let _running = Running::tell(&args.folder);
    let options = PartOptions {
        way: way.as_ref(),
        native_runs: args.native_runs,
        processes: args.processes,
    };
    let part = count_one(&program, &options)?;
    show::ended(part.write(&args.folder), part.exit)
}
