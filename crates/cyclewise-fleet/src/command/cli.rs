//! The command line's definition.

use clap::{Args, Parser, Subcommand};
use cyclewise_report::docs::DocsCommand;
use std::path::PathBuf;

/// Run on many machines and compare them, on Slurm or over ssh
#[derive(Parser)]
#[command(
    name = "cyclewise-fleet",
    version,
    about,
    after_help = "Exit status: 0 success, 1 something is missing, torn or changed, or a promise broke, 2 usage error, 3 an output could not be written, or a program is missing."
)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Subcommand)]
pub(super) enum Command {
    /// Write a Slurm job that runs a sweep in shards, or measures a record or verifies promises on every node
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
    /// Report on the machines of many records: groups, spread, outliers, differences, broken promises
    Report(FleetReportArgs),
    #[command(flatten)]
    Docs(DocsCommand),
}

#[derive(Args)]
pub(super) struct PlanArgs {
    /// The folder that gets the job's files and its results; all nodes must see it under this name
    #[arg(long, value_name = "DIR", default_value = "cyclewise-fleet")]
    pub(super) into: PathBuf,
    /// simulate: the number of shards [default: 2 for each node, or 64]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(super) shards: Option<u32>,
    /// The number of nodes; `run` and `verify` need it, or --sbatch=--nodelist=…
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(super) nodes: Option<u32>,
    /// An option of sbatch for the job, for example --sbatch=--partition=batch; may be repeated. The joining job inherits only
    /// account and placement options: partition, account, qos, reservation, clusters, wckey, comment, mail
    #[arg(long = "sbatch", value_name = "OPTION", allow_hyphen_values = true)]
    pub(super) sbatch: Vec<String>,
    /// The cyclewise that the nodes run [default: the one beside this program, or in PATH]
    #[arg(long, value_name = "PATH")]
    pub(super) program: Option<PathBuf>,
    /// `simulate …`, `run …` or `verify …` with its arguments, without outputs
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "COMMAND"
    )]
    pub(super) planned: Vec<String>,
}

#[derive(Args)]
pub(super) struct JoinArgs {
    /// The folder of the plan, or any folder of records or shards
    pub(super) dir: PathBuf,
    /// Write the joined sweep or fleet here; `-` is stdout [default: joined.json or fleet.jsonl in DIR]
    #[arg(long, value_name = "PATH")]
    pub(super) json: Option<PathBuf>,
}

#[derive(Args)]
pub(super) struct FleetReportArgs {
    /// Folders of records, records, or what `fleet join` wrote
    #[arg(required = true, value_name = "DIR|FILE")]
    pub(super) sources: Vec<PathBuf>,
    /// Facts that machines of a group have in common [default: all]
    #[arg(long, value_name = "FACT,…", value_delimiter = ',')]
    pub(super) by: Vec<String>,
    /// The false discovery rate of outliers and differences
    #[arg(long, value_name = "SHARE", default_value_t = 0.05)]
    pub(super) fdr: f64,
    /// Write the report as an HTML page
    #[arg(long, value_name = "PATH")]
    pub(super) html: Option<PathBuf>,
    /// Write the report as JSON; `-` writes it to stdout instead of the table
    #[arg(long, value_name = "PATH")]
    pub(super) json: Option<PathBuf>,
    /// Write CSV in long form, one line for each row of each machine
    #[arg(long, value_name = "PATH")]
    pub(super) csv: Option<PathBuf>,
    /// Write OpenMetrics text, for Prometheus
    #[arg(long, value_name = "PATH")]
    pub(super) openmetrics: Option<PathBuf>,
    /// Print every column [default: those that fit the terminal, at most 100 characters]
    #[arg(long)]
    pub(super) wide: bool,
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
