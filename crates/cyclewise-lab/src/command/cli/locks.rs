//! `cyclewise locks`, and what cargo runs on its behalf.

use super::LINES_OF_CODE;
use clap::{Args, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(Args)]
pub(in crate::command) struct LocksArgs {
    /// How to count [default: by a counter of the CPU where one answers, else by an emulator]
    #[arg(long, value_name = "WAY", value_enum)]
    pub(in crate::command) by: Option<By>,
    /// Write the counts, classes and the forecast as JSON; `-` writes them to stdout instead of the report, and what PROG prints goes
    /// to stderr then
    #[arg(long, value_name = "PATH")]
    pub(in crate::command) json: Option<PathBuf>,
    /// Write the report as an HTML page
    #[arg(long, value_name = "PATH")]
    pub(in crate::command) html: Option<PathBuf>,
    /// Read a table of known functions besides the built-in one; the last table that knows a function counts
    #[arg(long, value_name = "FILE")]
    pub(in crate::command) table: Vec<PathBuf>,
    /// Take what instructions cost from this record of `run in-context` [default: measure it after the run, in ten seconds]
    #[arg(long, value_name = "RECORD.json")]
    pub(in crate::command) costs: Option<PathBuf>,
    /// Run PROG at most this many times more, without counting, for its user time; at least once and at most ten seconds, 0 never
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub(in crate::command) native_runs: u32,
    /// The user time of PROG in seconds, so that it needs no further run
    #[arg(long, value_name = "S", conflicts_with = "native_runs", value_parser = seconds)]
    pub(in crate::command) user_seconds: Option<f64>,
    /// Count at most this many programs that PROG starts; others run without being counted, and a line says how many
    #[arg(long, value_name = "N", default_value_t = 512, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub(in crate::command) processes: u32,
    /// Leave out of the documents who measured, with the key in this file (see `run --help`)
    ///
    /// The names of the node, its boot and its job become hashes, the home folder `~`, and files below the current folder are named from
    /// there. The names of functions and the program's arguments stay. So does the report on the terminal.
    #[arg(long, value_name = "KEYFILE")]
    pub(in crate::command) anonymous: Option<PathBuf>,
    /// List this many lines of code
    #[arg(long, value_name = "N", default_value_t = LINES_OF_CODE, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(in crate::command) lines: u32,
    /// Print every column [default: those that fit the terminal, at most 100 characters]
    #[arg(long)]
    pub(in crate::command) wide: bool,
    /// The program to count, and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "PROG ARGS")]
    pub(in crate::command) program: Vec<OsString>,
}

/// A program that cargo starts: it is counted into a folder.
#[derive(Args)]
pub(in crate::command) struct LocksRunnerArgs {
    /// The folder of the counts
    pub(in crate::command) folder: PathBuf,
    /// As of `locks`
    #[arg(long, value_enum)]
    pub(in crate::command) by: By,
    /// As of `locks`
    #[arg(long)]
    pub(in crate::command) native_runs: u32,
    /// As of `locks`
    #[arg(long)]
    pub(in crate::command) processes: u32,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true)]
    pub(in crate::command) program: Vec<OsString>,
}

/// A way of counting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::command) enum By {
    /// Samples by an event of the CPU's own counters: PROG runs about as fast as ever, and figures are estimates
    Counter,
    /// By qemu-user: exact, on any machine, and 20 to 70 times slower
    Emulator,
}

impl By {
    /// The name on the command line.
    pub(in crate::command) fn name(self) -> &'static str {
        match self {
            By::Counter => "counter",
            By::Emulator => "emulator",
        }
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds.is_finite() && seconds > 0.0 => Ok(seconds),
        _ => Err("give seconds above 0, for example 1.25".to_owned()),
    }
}
