//! What cargo starts in place of a program that it built: counts the program, leaves the counts in a folder, and runs it again for its time.

use super::args::LocksRunnerArgs;
use super::cargo::Running;
use super::program::Program;
use super::{PartOptions, count_one, show, time_again, way, ways};
use crate::error::Result;
use cyclewise_bench::sys::interrupt;
use std::process::ExitCode;

pub(super) fn locks_runner(args: &LocksRunnerArgs) -> Result<ExitCode> {
    let program = Program::find(&args.program)?;
    let way = way::choose(Some(args.by), ways(&program, args.sysroot.as_deref()))?;
    way.check(&program)?;
    interrupt::listen();
    let _running = Running::tell(&args.folder);
    let options = PartOptions {
        way: way.as_ref(),
        native_runs: args.native_runs,
        processes: args.processes,
        callers: !args.no_callers,
        sysroot: args.sysroot.as_deref(),
    };
    let (mut part, counted) = count_one(&program, &options)?;
    // Whatever becomes of the runs without counting, the counts are there.
    let written = part.write(&args.folder).map(|file| {
        time_again(&mut part, &program, args.native_runs, &counted);
        part.replace(&file);
    });
    show::ended(written, part.exit)
}
