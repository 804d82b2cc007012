//! Arguments of `fleet`.

use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Args)]
pub(in crate::command) struct FleetArgs {
    #[command(subcommand)]
    pub(in crate::command) command: FleetCommand,
}

#[derive(Subcommand)]
pub(in crate::command) enum FleetCommand {
    /// Write a Slurm job that runs a sweep in shards, or measures a record on each node
    Plan(PlanArgs),
    /// Join what the job wrote, and name what is missing
    Join(JoinArgs),
    /// Print the names that nodes, or jobs, have in records made with --anonymous, one on a line
    Names {
        /// The key of those records
        #[arg(long, value_name = "KEYFILE")]
        key: PathBuf,
        /// Names of nodes, or ids of jobs
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
    },
    /// Report on the machines of many records: groups, spread, outliers, differences
    Report(FleetReportArgs),
}

#[derive(Args)]
pub(in crate::command) struct PlanArgs {
    /// The folder that gets the job's files and its results; all nodes must see it under this name
    #[arg(long, value_name = "DIR", default_value = "cyclewise-fleet")]
    pub(in crate::command) into: PathBuf,
    /// simulate: the number of shards [default: 2 for each node, or 64]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(in crate::command) shards: Option<u32>,
    /// The number of nodes; `run` needs it, or --sbatch=--nodelist=…
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(in crate::command) nodes: Option<u32>,
    /// An option of sbatch for the job, for example --sbatch=--partition=batch; may be repeated. The joining job inherits only
    /// account and placement options: partition, account, qos, reservation, clusters, wckey, comment, mail
    #[arg(long = "sbatch", value_name = "OPTION", allow_hyphen_values = true)]
    pub(in crate::command) sbatch: Vec<String>,
    /// The cyclewise that the nodes run [default: this one]
    #[arg(long, value_name = "PATH")]
    pub(in crate::command) program: Option<PathBuf>,
    /// `simulate …` or `run …` with its arguments, without outputs
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "COMMAND"
    )]
    pub(in crate::command) planned: Vec<String>,
}

#[derive(Args)]
pub(in crate::command) struct JoinArgs {
    /// The folder of the plan, or any folder of records or shards
    pub(in crate::command) dir: PathBuf,
    /// Write the joined sweep or fleet here; `-` is stdout [default: joined.json or fleet.jsonl in DIR]
    #[arg(long, value_name = "PATH")]
    pub(in crate::command) json: Option<PathBuf>,
}

#[derive(Args)]
pub(in crate::command) struct FleetReportArgs {
    /// Folders of records, records, or what `fleet join` wrote
    #[arg(required = true, value_name = "DIR|FILE")]
    pub(in crate::command) sources: Vec<PathBuf>,
    /// Facts that machines of a group have in common [default: all]
    #[arg(long, value_name = "FACT,…", value_delimiter = ',')]
    pub(in crate::command) by: Vec<String>,
    /// The false discovery rate of outliers and differences
    #[arg(long, value_name = "SHARE", default_value_t = 0.05)]
    pub(in crate::command) fdr: f64,
    /// Write the report as an HTML page
    #[arg(long, value_name = "PATH")]
    pub(in crate::command) html: Option<PathBuf>,
    /// Write the report as JSON; `-` writes it to stdout instead of the table
    #[arg(long, value_name = "PATH")]
    pub(in crate::command) json: Option<PathBuf>,
    /// Write CSV in long form, one line for each row of each machine
    #[arg(long, value_name = "PATH")]
    pub(in crate::command) csv: Option<PathBuf>,
    /// Write OpenMetrics text, for Prometheus
    #[arg(long, value_name = "PATH")]
    pub(in crate::command) openmetrics: Option<PathBuf>,
    /// Print every column [default: those that fit the terminal, at most 100 characters]
    #[arg(long)]
    pub(in crate::command) wide: bool,
}
