//! The command line's definition.

use super::common::{Common, seconds};
use super::time_args::TimeArgs;
use crate::compare::FailOn;
use clap::{Args, Parser, Subcommand};
use cyclewise_report::docs::DocsCommand;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// Lines of code that a report lists, unless told otherwise.
const LINES_OF_CODE: u32 = 10;

/// Measure what synchronization primitives cost on this machine, and simulate them on others
#[derive(Parser)]
#[command(
    name = "cyclewise",
    version,
    about,
    after_help = "Exit status: 0 success, 1 a check failed, 2 usage error, 3 not supported on this machine, or not everything was measured. \
                  Ended early by Ctrl-C, SIGTERM or SIGHUP, it ends by that signal: 130, 143 or 129 in a shell."
)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Subcommand)]
pub(super) enum Command {
    /// Run experiments: all of them, or those named
    ///
    /// Prints the results. Without --json, --csv, --bmf or --html, it also writes the record and the report to new files in
    /// this folder, cyclewise-CPU-TIME.json and .html; no file that exists is changed.
    ///
    /// Exit status 0: everything that was asked for and that this machine can run was measured. 3: something is missing; the
    /// last line and the record say what and why. Naming an experiment that this machine cannot run also gives 3.
    Run(RunArgs),
    /// List the experiments, with the question each answers and its source; name some to see what each of their variants is
    List {
        /// Names of experiments [default: all]
        #[arg(value_name = "EXPERIMENT")]
        experiments: Vec<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Report what this machine offers, with the evidence for each line
    Doctor {
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// Print hashes of the names of the machine, its boot and its job, made with the key in this file (see `run --help`)
        #[arg(long, value_name = "KEYFILE")]
        anonymous: Option<PathBuf>,
    },
    /// Compare records with the first one
    Compare(CompareArgs),
    /// Print each primitive against its lower bound and best competitor, per machine
    ///
    /// The limit is what sets the least cost: a fence, a locked instruction, two stores. A dash stands for a
    /// variant that no record has. Without records, prints what sets each limit.
    Limits(LimitsArgs),
    /// Print the tables of records or of a simulation, or write their HTML page
    Report {
        /// Records written by `run --json`, documents written by `locks --json`, or one written by `simulate --json`; `-` is
        /// standard input
        #[arg(required = true, value_name = "RECORD.json")]
        records: Vec<PathBuf>,
        /// Write the HTML page here, instead of printing tables
        #[arg(long, value_name = "PATH")]
        html: Option<PathBuf>,
        /// Write the simulation again, as it was read; `-` is stdout
        #[arg(long, value_name = "PATH")]
        json: Option<PathBuf>,
        /// Write a simulation as CSV
        #[arg(long, value_name = "PATH")]
        csv: Option<PathBuf>,
        /// Print every column [default: those that fit the terminal, at most 100 characters]
        #[arg(long)]
        wide: bool,
        /// List this many lines of code with a program's locked instructions
        #[arg(long, value_name = "N", default_value_t = LINES_OF_CODE, value_parser = clap::value_parser!(u32).range(1..=100_000))]
        lines: u32,
    },
    /// Time whole commands, interleaved in random order
    ///
    /// Options have the names and letters of hyperfine's. Runs see their number, from 0, as CYCLEWISE_ITERATION and HYPERFINE_ITERATION.
    /// Files that are named are also written while it runs, so that a kill loses little; Ctrl-C, SIGTERM and SIGHUP end the commands and keep
    /// the rounds.
    Time(Box<TimeArgs>),
    /// Show what atomics cost a program: which lines of code, and what it would gain without
    ///
    /// Starts the program `cyclewise-locks`, beside this one or in PATH, with the same arguments: `cyclewise locks --help` prints its options.
    /// Exit status 3: that program was not found.
    #[command(disable_help_flag = true)]
    Locks {
        /// Options, the program to count, and its arguments
        #[arg(
            trailing_var_arg = true,
            allow_hyphen_values = true,
            value_name = "OPTIONS PROG ARGS"
        )]
        words: Vec<OsString>,
    },
    /// Simulate contended cache lines on other machines
    ///
    /// Starts the program `cyclewise-sim`, beside this one or in PATH, with the same arguments: `cyclewise simulate --help` prints its options.
    /// Exit status 3: that program was not found.
    #[command(disable_help_flag = true)]
    Simulate {
        /// Options and arguments
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGS")]
        words: Vec<OsString>,
    },
    /// Recommend a retry limit, relax policy and primitive for a machine, by simulation
    ///
    /// Starts the program `cyclewise-sim` as `simulate` does.
    #[command(disable_help_flag = true)]
    Recommend {
        /// Options and arguments
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGS")]
        words: Vec<OsString>,
    },
    /// Run on many machines and compare them, on Slurm or over ssh
    ///
    /// Starts the program `cyclewise-fleet`, beside this one or in PATH, with the same arguments: `cyclewise fleet --help` prints its subcommands.
    /// Exit status 3: that program was not found.
    #[command(disable_help_flag = true)]
    Fleet {
        /// Subcommand, options and arguments
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGS")]
        words: Vec<OsString>,
    },
    /// Check a command `run …` or `verify …` for `fleet plan`
    #[command(hide = true, disable_help_flag = true)]
    PlannedRun {
        /// The command
        #[arg(value_name = "COMMAND", trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<String>,
    },
    /// Check the project's guarantees on this machine; exit 1 if one is broken, 3 if one is not shown
    Verify(VerifyArgs),
    #[command(flatten)]
    Docs(DocsCommand),
}

#[derive(Args)]
pub(super) struct RunArgs {
    /// Names of experiments (see `list`) [default: all]
    #[arg(value_name = "EXPERIMENT")]
    pub(super) experiments: Vec<String>,
    /// Take at most a minute for all experiments, ten seconds for one
    #[arg(long, conflicts_with = "full")]
    pub(super) quick: bool,
    /// Use the sources' own parameters, and aim for the narrowest intervals
    #[arg(long)]
    pub(super) full: bool,
    /// Take at most this many seconds for the samples of each experiment
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(super) time: Option<Duration>,
    /// Divide the time over this many processes, one after the other: each draws addresses of stack, heap and libraries and an order of
    /// experiments, so that the intervals include what changes from process to process
    #[arg(long, value_name = "K", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) runs: u32,
    /// Pin single-threaded samples to this CPU [default: the idlest]
    #[arg(long, value_name = "N")]
    pub(super) cpu: Option<u32>,
    /// hackbench: also measure pipes, besides socket pairs
    #[arg(long)]
    pub(super) pipe: bool,
    /// hackbench: number of groups, each 20 senders and 20 receivers
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) groups: Option<u32>,
    /// hackbench: number of messages from each sender to each receiver
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(super) loops: Option<u32>,
    /// open-read-close: process counts, for example 1,2,4
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(super) threads: Vec<u32>,
    /// Measure the benchmarks of a shared object in C or C++ in place of experiments
    ///
    /// CW_BENCH of <cyclewise/bench.h> puts them there. Names are then filters, and options are those of cyclewise-bench:
    /// `cyclewise run --object FILE --help` prints them.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(super) object: Option<PathBuf>,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Args)]
pub(super) struct CompareArgs {
    /// Records written by `run --json`; the first is the baseline, and one may be `-`, which is standard input
    #[arg(required = true, num_args = 2.., value_name = "RECORD.json")]
    pub(super) records: Vec<PathBuf>,
    /// Write the comparison as JSON; `-` writes it to stdout instead of the table
    #[arg(long, value_name = "PATH")]
    pub(super) json: Option<PathBuf>,
    /// Write the comparison as an HTML page
    #[arg(long, value_name = "PATH")]
    pub(super) html: Option<PathBuf>,
    /// Exit with 1 if a variant is slower than in the first record by more than this share: its whole 95 % interval is above it. Exit
    /// with 3 if an interval includes the share. Name experiments to look at these alone: slower:5%, or slower:5%,popf,arc
    #[arg(long, value_name = "slower:P%[,EXPERIMENT…]")]
    pub(super) fail_on: Option<FailOn>,
    /// Print every column [default: those that fit the terminal, at most 100 characters]
    #[arg(long)]
    pub(super) wide: bool,
}

#[derive(Args)]
pub(super) struct LimitsArgs {
    /// Records written by `run --json`; those of one machine are joined, and the newest counts
    #[arg(value_name = "RECORD.json")]
    pub(super) records: Vec<PathBuf>,
    /// Print Markdown
    #[arg(long)]
    pub(super) markdown: bool,
    /// Write the Markdown into this page, between its lines `<!-- cyclewise limits: begin -->` and `… end -->`
    #[arg(long, value_name = "PAGE.md", conflicts_with_all = ["markdown", "wide"])]
    pub(super) into: Option<PathBuf>,
    /// Print every column [default: those that fit the terminal, at most 100 characters]
    #[arg(long, conflicts_with = "markdown")]
    pub(super) wide: bool,
}

#[derive(Args)]
pub(super) struct VerifyArgs {
    /// What to verify
    #[arg(value_name = "WHAT", default_value = "lab")]
    pub(super) what: What,
    /// Spend about this many seconds
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = seconds)]
    pub(super) seconds: Duration,
    /// lab: pin to this CPU [default: the idlest]
    #[arg(long, value_name = "N")]
    pub(super) cpu: Option<u32>,
    /// Write the result as JSON; `-` writes it to stdout instead of the table
    #[arg(long, value_name = "PATH")]
    pub(super) json: Option<PathBuf>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
pub(super) enum What {
    /// The lab itself: it must find no difference in A/A comparisons, and find a body made 1 % slower
    Lab,
    /// Reference counts: misuse saturates, saturation is permanent, exactly one put is the last
    Refs,
    /// The library's clock: monotonic across every pair of CPUs, and in agreement with the kernel's
    Clock,
    /// Code patching: no update is lost while LOCK prefixes change, and every thread sees a key's flip
    Patch,
    /// Per-CPU data: sums are exact under preemption, migration and signals
    Percpu,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn clap_accepts_the_definition() {
        Cli::command().debug_assert();
    }
}
