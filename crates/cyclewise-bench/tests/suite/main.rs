//! Benchmark programs in processes of their own: what they measure, and what they do with bad input.

#[macro_use]
extern crate cyclewise_bench;

mod against;
mod bad;
mod baseline;
#[path = "../../../cyclewise-locks/tests/common/executable.rs"]
mod executable;
mod experiments;
mod good;
mod programs;
#[path = "../../../cyclewise-locks/tests/common/signals.rs"]
mod signals;

use cyclewise_bench::record::{self, Record};
use std::process::{Command, Output};

#[global_allocator]
static COUNTED: cyclewise_bench::Allocations = cyclewise_bench::Allocations;

const PROGRAM: &str = "CYCLEWISE_SUITE_PROGRAM";
const ARGUMENTS: &str = "CYCLEWISE_SUITE_ARGUMENTS";
/// Which program a copy of this executable is that is called `base`.
const BASE: &str = "CYCLEWISE_SUITE_BASE";

/// In a child, the benchmark program of that name with the arguments that follow, one a line; nothing elsewhere.
#[test]
fn program() {
    let is_base = std::env::current_exe().is_ok_and(|path| path.ends_with("base"));
    let Ok(name) = std::env::var(if is_base { BASE } else { PROGRAM }) else {
        return;
    };
    let arguments = std::env::var(ARGUMENTS).unwrap_or_default();
    let arguments = arguments.lines().map(std::ffi::OsString::from);
    let status = cyclewise_bench::suite::run(arguments, programs::find(&name));
    if cyclewise_bench::sys::interrupt::asked() {
        cyclewise_bench::sys::interrupt::end();
    }
    std::process::exit(i32::from(status));
}

/// The command that runs this program, not started.
fn command(program: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "program", "--nocapture", "--test-threads", "1"])
        .env(PROGRAM, program)
        // Nothing of a test is a baseline of another.
        .env("CYCLEWISE_BENCH_HOME", "")
        .env(ARGUMENTS, arguments.join("\n"));
    command
}

/// What a program did.
struct Ran {
    status: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Ran {
    fn of_output(output: Output) -> Self {
        Self {
            status: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// The only line of stderr that has this part.
    fn line(&self, part: &str) -> &str {
        let lines: Vec<&str> = self.stderr.lines().filter(|line| line.contains(part)).collect();
        assert_eq!(lines.len(), 1, "{part}: {}", self.stderr);
        lines[0]
    }
}

fn run(program: &str, arguments: &[&str]) -> Ran {
    Ran::of_output(
        signals::with_default_signals(&command(program, arguments))
            .output()
            .unwrap(),
    )
}

/// Seconds for a group: more where the machine leaves too few samples.
const TIMES: [&str; 3] = ["0.1", "1", "5"];

/// Measures for a moment, and returns the record beside what the program did; `None`, with the reason printed, where other work
/// on this machine leaves too few samples however often it is tried.
fn measured(program: &str, arguments: &[&str]) -> Option<(Ran, Record)> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("record.json");
    let path = file.display().to_string();
    for time in TIMES {
        let ran = run(
            program,
            &[&["--bench", "--time", time, "--json", &path], arguments].concat(),
        );
        if !ran.stderr.contains("samples were usable") {
            let record = record::load(&file).unwrap_or_else(|e| panic!("{e}: {}", ran.stderr));
            return Some((ran, record));
        }
    }
    println!("skipped: this machine is too busy to measure");
    None
}
