//! What `simulate` and `recommend` take.

use crate::record::simulation::Shard;
use crate::simulate::lists::{self, Counts, Limits, Relaxes};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum};
use cyclewise_sim::{Placement, Workload};
use std::path::PathBuf;

/// A sweep, or one of the subcommands beside it.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(in crate::command) struct SimulateArgs {
    #[command(subcommand)]
    pub(in crate::command) command: Option<SimulateCommand>,
    #[command(flatten)]
    pub(in crate::command) sweep: SweepArgs,
}

#[derive(Subcommand)]
pub(in crate::command) enum SimulateCommand {
    /// List the workloads and the machines
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Make a machine file from a record of `run core-to-core`
    Fit(FitArgs),
    /// Draw retries over hold time and fairness: where a second exchange always succeeds, and where 25 retries come from
    Phase(PhaseArgs),
    /// Hold the simulator against published figures; exit 1 where one misses its range
    Validate(ValidateArgs),
}

#[derive(Args)]
pub(in crate::command) struct SweepArgs {
    /// What is run (see `simulate list`)
    #[arg(required = true, value_name = "WORKLOAD", value_parser = workload())]
    pub(in crate::command) workloads: Vec<Workload>,
    /// A machine by name (see `simulate list`), or a machine file
    #[arg(long = "machine", required = true, value_name = "NAME|FILE")]
    pub(in crate::command) machines: Vec<String>,
    /// Counts of threads: 1,2,4 or 1..224 or 1..224:8; without it 1, 2, 4 and so on to all CPUs
    #[arg(long, value_name = "LIST", value_parser = lists::counts)]
    pub(in crate::command) threads: Option<Counts>,
    /// Tries in vain after which a lockref takes its lock; `none` is no limit
    #[arg(long, value_name = "LIST", value_parser = lists::limits, default_value = "100")]
    pub(in crate::command) retry_limit: Limits,
    /// Between tries: none, pause (one), exponential (up to 64 pauses) or exponential:MOST
    #[arg(long, value_name = "LIST", value_parser = lists::relaxes, default_value = "none")]
    pub(in crate::command) relax: Relaxes,
    /// Work inside a section, or while a reference is held, in cycles of the machine's cores
    #[arg(long, value_name = "CYCLES", default_value_t = 0)]
    pub(in crate::command) critical: u32,
    /// Work between two operations, in cycles of the machine's cores
    #[arg(long, value_name = "CYCLES", default_value_t = 0)]
    pub(in crate::command) parallel: u32,
    /// Which CPUs the threads get
    #[arg(long, value_name = "P", default_value = "compact")]
    pub(in crate::command) placement: PlacementArg,
    /// Threads beside them that only read the line
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(in crate::command) readers: u32,
    /// Seed of the model's randomness
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(in crate::command) seed: u64,
    /// Operations measured at each point; without it 2000, or 30 a thread where those are more
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub(in crate::command) ops: Option<u64>,
    /// Write the sweep (cyclewise.simulation/1); `-` is stdout, which then holds nothing else
    #[arg(long, value_name = "PATH")]
    pub(in crate::command) json: Option<PathBuf>,
    /// Write one line a point as CSV; times in ns
    #[arg(long, value_name = "PATH")]
    pub(in crate::command) csv: Option<PathBuf>,
    /// Write curves and tables as one HTML page
    #[arg(long, value_name = "PATH")]
    pub(in crate::command) html: Option<PathBuf>,
    /// Compute one part of N; `report` joins the parts
    #[arg(long, value_name = "I/N", value_parser = lists::shard)]
    pub(in crate::command) shard: Option<Shard>,
}

#[derive(Args)]
pub(in crate::command) struct FitArgs {
    /// A record that holds the experiment core-to-core
    #[arg(long, value_name = "RECORD.json")]
    pub(in crate::command) from: PathBuf,
    /// Where the machine file goes; without it to stdout
    #[arg(long, value_name = "FILE.toml")]
    pub(in crate::command) out: Option<PathBuf>,
}

#[derive(Args)]
pub(in crate::command) struct PhaseArgs {
    /// The machine whose hold and arbiter are varied, by name or file
    #[arg(long, value_name = "NAME|FILE", default_value = "thunderx2")]
    pub(in crate::command) machine: String,
    /// What is run
    #[arg(long, value_name = "WORKLOAD", default_value = "cas-loop", value_parser = workload())]
    pub(in crate::command) workload: Workload,
    /// On how many threads
    #[arg(long, value_name = "N", default_value_t = 28, value_parser = clap::value_parser!(u32).range(1..))]
    pub(in crate::command) threads: u32,
    /// Which CPUs they get: where all are as far apart, no request is nearer than another
    #[arg(long, value_name = "P", default_value = "spread")]
    pub(in crate::command) placement: PlacementArg,
    /// Seed of the model's randomness
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(in crate::command) seed: u64,
    /// Write the diagram as JSON; `-` is stdout, which then holds nothing else
    #[arg(long, value_name = "PATH")]
    pub(in crate::command) json: Option<PathBuf>,
    /// Write one line a cell as CSV
    #[arg(long, value_name = "PATH")]
    pub(in crate::command) csv: Option<PathBuf>,
    /// Write the diagram as one HTML page
    #[arg(long, value_name = "PATH")]
    pub(in crate::command) html: Option<PathBuf>,
}

#[derive(Args)]
pub(in crate::command) struct ValidateArgs {
    /// Write the report as Markdown; `-` is stdout, which then holds nothing else
    #[arg(long, value_name = "PATH")]
    pub(in crate::command) markdown: Option<PathBuf>,
    /// Write the report as JSON; `-` is stdout, which then holds nothing else
    #[arg(long, value_name = "PATH")]
    pub(in crate::command) json: Option<PathBuf>,
}

#[derive(Args)]
pub(in crate::command) struct RecommendArgs {
    /// A machine by name (see `simulate list`), or a machine file
    #[arg(long, value_name = "NAME|FILE")]
    pub(in crate::command) machine: String,
    /// Counts of threads: 1,2,4 or 1..224 or 1..224:8; without it 1, 2, 4 and so on to all CPUs
    #[arg(long, value_name = "LIST", value_parser = lists::counts)]
    pub(in crate::command) threads: Option<Counts>,
    /// Work inside a section, or while a reference is held, in cycles of the machine's cores
    #[arg(long, value_name = "CYCLES", default_value_t = 0)]
    pub(in crate::command) critical: u32,
    /// Work between two operations, in cycles of the machine's cores
    #[arg(long, value_name = "CYCLES", default_value_t = 0)]
    pub(in crate::command) parallel: u32,
    /// Runs of each candidate, each with a seed of its own
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub(in crate::command) seeds: u32,
    /// The first seed
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(in crate::command) seed: u64,
    /// Write the recommendation as JSON; `-` is stdout, which then holds nothing else
    #[arg(long, value_name = "PATH")]
    pub(in crate::command) json: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
pub(in crate::command) enum PlacementArg {
    /// Over all sockets in turn, a thread on each core before a second on any
    Spread,
    /// A socket's cores and then the next one's; second threads when every core has one
    Compact,
    /// All threads of a core, then the next core
    CompactSmt,
}

impl From<PlacementArg> for Placement {
    fn from(placement: PlacementArg) -> Self {
        match placement {
            PlacementArg::Spread => Self::Spread,
            PlacementArg::Compact => Self::Compact,
            PlacementArg::CompactSmt => Self::CompactSmt,
        }
    }
}

/// The parser offers the nearest name for one that there is not.
fn workload() -> impl TypedValueParser<Value = Workload> {
    let names = Workload::ALL
        .iter()
        .map(|w| PossibleValue::new(w.name()).help(w.about()));
    PossibleValuesParser::new(names).try_map(|name| name.parse::<Workload>())
}
