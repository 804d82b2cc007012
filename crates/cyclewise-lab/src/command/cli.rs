//! The command line's shape. Every option here works and is tested.

mod simulate;

pub(super) use simulate::{FitArgs, PhaseArgs, RecommendArgs, SimulateArgs, SimulateCommand, SweepArgs, ValidateArgs};

use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// What do this machine's hot paths cost?
#[derive(Parser)]
#[command(
    name = "cyclewise",
    version,
    about,
    after_help = "Exit status: 0 done, 1 a check failed, 2 wrong use, 3 this machine cannot do it."
)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Subcommand)]
pub(super) enum Command {
    /// Measure experiments: all of them, or those named
    Run(RunArgs),
    /// List the experiments, their question and where it comes from
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Say what this machine offers, each line with its evidence
    Doctor {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Compare two or more records: each against the first
    Compare(CompareArgs),
    /// Write records, or the shards of a simulation, as one HTML page
    Report {
        /// Records written by `run --json`, or all shards written by `simulate --json`
        #[arg(required = true, value_name = "RECORD.json")]
        records: Vec<PathBuf>,
        /// Where the page goes
        #[arg(long, value_name = "PATH", required_unless_present_any = ["json", "csv"])]
        html: Option<PathBuf>,
        /// Write the joined shards of a simulation; `-` is stdout
        #[arg(long, value_name = "PATH")]
        json: Option<PathBuf>,
        /// Write the joined shards of a simulation as CSV
        #[arg(long, value_name = "PATH")]
        csv: Option<PathBuf>,
    },
    /// Time whole commands, interleaved in random order
    Time(TimeArgs),
    /// Simulate contended cache lines of machines that are not at hand
    Simulate(SimulateArgs),
    /// Say which retry limit, way to relax and primitive suit a machine, by simulating it
    Recommend(RecommendArgs),
    /// Check promises on this machine; exit 1 where one is broken
    Verify(VerifyArgs),
}

#[derive(Args)]
pub(super) struct RunArgs {
    /// Experiments by name (see `list`); none means all
    #[arg(value_name = "EXPERIMENT")]
    pub(super) experiments: Vec<String>,
    /// All within a minute, one within ten seconds
    #[arg(long, conflicts_with = "full")]
    pub(super) quick: bool,
    /// The sources' own parameters, and the narrowest intervals
    #[arg(long)]
    pub(super) full: bool,
    /// Pin single-threaded samples to this CPU instead of the idlest
    #[arg(long, value_name = "N")]
    pub(super) cpu: Option<u32>,
    /// hackbench: pipes as well as socket pairs
    #[arg(long)]
    pub(super) pipe: bool,
    /// hackbench: groups of 20 senders and 20 receivers
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) groups: Option<u32>,
    /// hackbench: messages from each sender to each receiver
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(super) loops: Option<u32>,
    /// open-read-close: numbers of processes, for example 1,2,4
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(super) threads: Vec<u32>,
    #[command(flatten)]
    pub(super) common: Common,
}

/// What every measuring subcommand takes.
#[derive(Args)]
pub(super) struct Common {
    /// Seed of the order of variants and of the bootstrap
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(super) seed: u64,
    /// Write the record; `-` is stdout, which then holds nothing else
    #[arg(long, value_name = "PATH")]
    pub(super) json: Option<PathBuf>,
    /// Write one line a variant as CSV
    #[arg(long, value_name = "PATH")]
    pub(super) csv: Option<PathBuf>,
    /// Write Bencher Metric Format, for CI dashboards
    #[arg(long, value_name = "PATH")]
    pub(super) bmf: Option<PathBuf>,
    /// Write the report as one HTML page
    #[arg(long, value_name = "PATH")]
    pub(super) html: Option<PathBuf>,
}

#[derive(Args)]
pub(super) struct CompareArgs {
    /// Records written by `run --json`; the first is what the others are held against
    #[arg(required = true, num_args = 2.., value_name = "RECORD.json")]
    pub(super) records: Vec<PathBuf>,
    /// Write the comparison as JSON; `-` is stdout, which then holds nothing else
    #[arg(long, value_name = "PATH")]
    pub(super) json: Option<PathBuf>,
    /// Write the comparison as one HTML page
    #[arg(long, value_name = "PATH")]
    pub(super) html: Option<PathBuf>,
    /// Seed of the bootstrap
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(super) seed: u64,
}

#[derive(Args)]
pub(super) struct TimeArgs {
    /// Commands; each is held against the first
    #[arg(required = true, value_name = "CMD")]
    pub(super) commands: Vec<String>,
    /// Runs of each command
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(2..=100_000))]
    pub(super) runs: u32,
    /// Run this before each timed run, untimed
    #[arg(long, value_name = "CMD")]
    pub(super) prepare: Option<String>,
    /// Untimed runs of each command first
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=10_000))]
    pub(super) warmup: u32,
    /// Run commands directly, not by `sh -c`
    #[arg(short = 'N', long)]
    pub(super) no_shell: bool,
    /// Keep going when a command fails
    #[arg(short, long)]
    pub(super) ignore_failure: bool,
    /// List every run
    #[arg(long)]
    pub(super) list_runs: bool,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Args)]
pub(super) struct VerifyArgs {
    /// What to verify
    #[arg(value_name = "WHAT", default_value = "lab")]
    pub(super) what: What,
    /// Spend about this long
    #[arg(long, value_name = "S", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=86_400))]
    pub(super) seconds: u32,
    /// Pin to this CPU instead of the idlest (lab)
    #[arg(long, value_name = "N")]
    pub(super) cpu: Option<u32>,
    /// Write the result as JSON; `-` is stdout, which then holds nothing else
    #[arg(long, value_name = "PATH")]
    pub(super) json: Option<PathBuf>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
pub(super) enum What {
    /// The lab itself: A/A comparisons, and a body made one percent slower
    Lab,
    /// Reference counts: misuse saturates, saturation is for good, the last put is told once
    Refs,
    /// The library's clock: on every pair of CPUs, and against the kernel's
    Clock,
    /// Code patching: nothing is lost while LOCK comes and goes, and a key's flip is seen by all
    Patch,
    /// Per-CPU data: sums are exact under preemption, migration and signals
    Percpu,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }
}
