//! The command line's definition.

use super::lists::{self, Counts, Limits, Relaxes};
use crate::from_matrix::Anchor;
use crate::record::Shard;
use crate::{Placement, Workload};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use cyclewise_report::docs::DocsCommand;
use std::path::PathBuf;

/// Simulate contended cache lines on other machines
#[derive(Parser)]
#[command(
    name = "cyclewise-sim",
    version,
    about,
    after_help = "Exit status: 0 success, 1 a check failed, 2 usage error, 3 an output could not be written."
)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Subcommand)]
pub(super) enum Command {
    /// Simulate contended cache lines on other machines
    Simulate(Box<SimulateArgs>),
    /// Recommend a retry limit, relax policy and primitive for a machine, by simulation
    Recommend(RecommendArgs),
    /// Print a simulation or write its HTML page
    Report {
        /// Written by `simulate --json`; `fleet join` joins shards
        #[arg(required = true, value_name = "SIMULATION.json")]
        simulations: Vec<PathBuf>,
        /// Write the HTML page here, instead of printing tables
        #[arg(long, value_name = "PATH")]
        html: Option<PathBuf>,
        /// Write it again, as it was read; `-` is stdout
        #[arg(long, value_name = "PATH")]
        json: Option<PathBuf>,
        /// Write CSV, one line per point, times in ns
        #[arg(long, value_name = "PATH")]
        csv: Option<PathBuf>,
    },
    #[command(flatten)]
    Docs(DocsCommand),
}

/// A sweep, or a subcommand.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(super) struct SimulateArgs {
    #[command(subcommand)]
    pub(super) command: Option<SimulateCommand>,
    #[command(flatten)]
    pub(super) sweep: SweepArgs,
}

#[derive(Subcommand)]
pub(super) enum SimulateCommand {
    /// List the workloads and the machines
    List,
    /// Make a machine file from a record of `run core-to-core`
    Fit(FitArgs),
    /// Print a machine as a file with comments, which --machine FILE reads back
    Machine(MachineArgs),
    /// Predict published machines that the simulator did not learn from; exit 1 if an error exceeds its limit
    Examine(ExamineArgs),
}

#[derive(Args)]
pub(super) struct SweepArgs {
    /// Workloads to simulate (see `simulate list`)
    #[arg(required = true, value_name = "WORKLOAD", value_parser = workload())]
    pub(super) workloads: Vec<Workload>,
    /// Name of a machine (see `simulate list`), or a machine file
    #[arg(
        long = "machine",
        required_unless_present = "from",
        conflicts_with = "from",
        value_name = "NAME|FILE"
    )]
    pub(super) machines: Vec<String>,
    /// Thread counts: 1,2,4 or 1..224 or 1..224:8 [default: powers of two, up to all CPUs]
    #[arg(long, value_name = "LIST", value_parser = lists::counts)]
    pub(super) threads: Option<Counts>,
    /// Failed tries after which a lockref takes its lock; `none` for no limit
    #[arg(long, value_name = "LIST", value_parser = lists::limits, default_value = "100")]
    pub(super) retry_limit: Limits,
    /// Relax policy between tries: none, pause (one), exponential (up to 64 pauses) or exponential:MAX
    #[arg(long, value_name = "LIST", value_parser = lists::relaxes, default_value = "none")]
    pub(super) relax: Relaxes,
    /// Work inside a critical section, or while holding a reference, in core cycles
    #[arg(long, value_name = "CYCLES", default_value_t = 0)]
    pub(super) critical: u32,
    /// Work between two operations, in core cycles [default: the workload's own: 5000 of open-read-close, 0 of the others]
    #[arg(long, value_name = "CYCLES")]
    pub(super) parallel: Option<u32>,
    /// How threads are placed on CPUs
    #[arg(long, value_name = "P", default_value = "compact")]
    pub(super) placement: Placement,
    /// Extra threads that only read the line
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) readers: u32,
    /// Seed of the model's random numbers
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(super) seed: u64,
    /// Operations measured at each point [default: until throughput is stationary]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub(super) ops: Option<u64>,
    /// Write the sweep as JSON (cyclewise.simulation/1); `-` writes it to stdout instead of the table
    #[arg(long, value_name = "PATH")]
    pub(super) json: Option<PathBuf>,
    /// Write CSV, one line per point, times in ns
    #[arg(long, value_name = "PATH")]
    pub(super) csv: Option<PathBuf>,
    /// Write curves and tables as an HTML page
    #[arg(long, value_name = "PATH")]
    pub(super) html: Option<PathBuf>,
    /// Compute only shard I of N; `fleet join` joins the shards
    #[arg(long, value_name = "I/N", value_parser = lists::shard)]
    pub(super) shard: Option<Shard>,
    /// Do nothing if the file of --json has the whole result already, written by this version
    #[arg(long, requires = "json", conflicts_with_all = ["csv", "html"])]
    pub(super) if_missing: bool,
    // Last, because its heading is that of all options behind it.
    #[command(flatten)]
    pub(super) matrix: MatrixArgs,
}

/// A machine of a matrix.
#[derive(Args)]
#[command(next_help_heading = "A machine from a matrix")]
pub(super) struct MatrixArgs {
    /// Matrix of one-way times, as `core-to-core-latency --csv` writes it; the machine is named after the file
    #[arg(long, value_name = "MATRIX.csv", requires = "clock")]
    pub(super) from: Option<PathBuf>,
    /// Core clock while all threads run
    #[arg(long, value_name = "GHZ", value_parser = lists::clock, requires = "from")]
    pub(super) clock: Option<f64>,
    /// Contended row of additions, such as fetch-add:8=22.1: time per operation of all threads together; without it there are only ratios
    #[arg(long, value_name = "WORKLOAD:THREADS=NS", value_parser = lists::anchor, requires = "from")]
    pub(super) anchor: Option<Anchor>,
    /// Threads per core [default: 2 if the matrix has pairs that are twice as near as all others, else 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=8), requires = "from")]
    pub(super) smt: Option<u32>,
    /// Number of sockets, as many groups as the matrix must have [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64), requires = "from")]
    pub(super) sockets: Option<u32>,
    /// Family of machines whose laws apply [default: by the vendor in the file's name]
    #[arg(long, value_name = "FAMILY", value_parser = PossibleValuesParser::new(crate::exam::families()), requires = "from")]
    pub(super) family: Option<String>,
    /// Cost of PAUSE or YIELD, which differs between cores by a factor of ten; required for a relax policy and for a machine file
    #[arg(long, value_name = "CYCLES", value_parser = clap::value_parser!(u32).range(0..=1_000_000), requires = "from")]
    pub(super) pause: Option<u32>,
}

#[derive(Args)]
pub(super) struct FitArgs {
    /// A record that contains the experiment core-to-core
    #[arg(long, value_name = "RECORD.json")]
    pub(super) from: PathBuf,
    /// Write the machine file here [default: stdout]
    #[arg(long, value_name = "FILE.toml")]
    pub(super) out: Option<PathBuf>,
}

#[derive(Args)]
#[command(arg_required_else_help = true)]
pub(super) struct MachineArgs {
    /// Name of a machine (see `simulate list`), or a machine file
    #[arg(long, value_name = "NAME|FILE", conflicts_with = "from")]
    pub(super) print: Option<String>,
    #[command(flatten)]
    pub(super) matrix: MatrixArgs,
}

#[derive(Args)]
pub(super) struct ExamineArgs {
    /// Write the report here [default: stdout]
    #[arg(long, value_name = "PATH")]
    pub(super) markdown: Option<PathBuf>,
}

#[derive(Args)]
pub(super) struct RecommendArgs {
    /// Name of a machine (see `simulate list`), or a machine file
    #[arg(long, value_name = "NAME|FILE")]
    pub(super) machine: String,
    /// Thread counts: 1,2,4 or 1..224 or 1..224:8 [default: powers of two, up to all CPUs]
    #[arg(long, value_name = "LIST", value_parser = lists::counts)]
    pub(super) threads: Option<Counts>,
    /// Work inside a critical section, or while holding a reference, in core cycles
    #[arg(long, value_name = "CYCLES", default_value_t = 0)]
    pub(super) critical: u32,
    /// Work between two operations, in core cycles
    #[arg(long, value_name = "CYCLES", default_value_t = 0)]
    pub(super) parallel: u32,
    /// The first seed
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(super) seed: u64,
    /// Write the recommendation as JSON; `-` writes it to stdout instead of the table
    #[arg(long, value_name = "PATH")]
    pub(super) json: Option<PathBuf>,
}

/// On an unknown name, clap suggests the nearest.
fn workload() -> impl TypedValueParser<Value = Workload> {
    let names = Workload::ALL
        .iter()
        .map(|w| PossibleValue::new(w.name()).help(w.about()));
    PossibleValuesParser::new(names).try_map(|name| name.parse::<Workload>())
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
