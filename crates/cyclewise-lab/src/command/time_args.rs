//! The options of `cyclewise time`. What hyperfine has too has its name, its letter and its meaning.

use super::common::{Common, seconds};
use crate::error::{Error, Result};
use crate::experiment::time::{Input, Named, Output, Quantity, Shell, TimeOptions, Tolerate, all, listed, scanned};
use clap::{Args, ValueEnum};
use cyclewise_report::export::hyperfine::TimeUnit;
use std::path::PathBuf;
use std::time::Duration;

/// The fewest runs, unless told otherwise: what a verdict by paired rounds needs.
const FEWEST: u32 = 20;

#[derive(Args)]
pub(super) struct TimeArgs {
    /// Commands; each is compared with the first
    #[arg(required = true, value_name = "CMD")]
    pub(super) commands: Vec<String>,
    /// Names of the commands, in their order; `compare` finds a name again in another record
    #[arg(short = 'n', long = "command-name", value_name = "NAME")]
    pub(super) names: Vec<String>,
    /// Compare all commands with this one
    #[arg(long, value_name = "CMD")]
    pub(super) reference: Option<String>,
    /// Name of the reference
    #[arg(long, value_name = "NAME", requires = "reference")]
    pub(super) reference_name: Option<String>,
    /// Exactly this many runs of each command [default: at least 20 runs and 3 seconds]
    #[arg(short, long, value_name = "N", conflicts_with_all = ["min_runs", "max_runs"], value_parser = clap::value_parser!(u32).range(2..=100_000))]
    pub(super) runs: Option<u32>,
    /// At least this many runs of each command
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=100_000))]
    pub(super) min_runs: Option<u32>,
    /// At most this many runs of each command
    #[arg(short = 'M', long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=100_000))]
    pub(super) max_runs: Option<u32>,
    /// Start no round that would end later than this many seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(super) max_time: Option<Duration>,
    /// Kill a run, and all that it started except daemons, after this many seconds; it counts as failed, and its time is not kept
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(super) timeout: Option<Duration>,
    /// Untimed runs of each command at the start
    #[arg(short, long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=10_000))]
    pub(super) warmup: u32,
    /// Run this once for each command, before all runs
    #[arg(short, long, value_name = "CMD")]
    pub(super) setup: Option<String>,
    /// Run this before each run; once for all commands, or once for each
    #[arg(short, long, value_name = "CMD")]
    pub(super) prepare: Vec<String>,
    /// Run this after each run; once for all commands, or once for each
    #[arg(short = 'C', long, value_name = "CMD")]
    pub(super) conclude: Vec<String>,
    /// Run this once for each command, after all runs
    #[arg(short, long, value_name = "CMD")]
    pub(super) cleanup: Option<String>,
    /// Run the commands with each value from MIN to MAX in place of {VAR}
    #[arg(short = 'P', long, value_names = ["VAR", "MIN", "MAX"], num_args = 3, allow_hyphen_values = true, conflicts_with = "parameter_list")]
    pub(super) parameter_scan: Vec<String>,
    /// Step from MIN to MAX by this much
    #[arg(short = 'D', long, value_name = "DELTA", requires = "parameter_scan")]
    pub(super) parameter_step_size: Option<String>,
    /// Run the commands with each of these values, separated by commas, in place of {VAR}; of several lists, with all combinations
    #[arg(short = 'L', long, value_names = ["VAR", "VALUES"], num_args = 2, allow_hyphen_values = true)]
    pub(super) parameter_list: Vec<String>,
    /// What runs the commands: a shell's name, path or command line, `default` (sh), or `none`
    #[arg(short = 'S', long)]
    pub(super) shell: Option<String>,
    /// Run commands directly, as --shell none
    #[arg(short = 'N', long, conflicts_with = "shell")]
    pub(super) no_shell: bool,
    /// Time runs that fail as well: all, or those with these statuses, separated by commas. A command that fails more often than
    /// the first gets no verdict
    #[arg(
        short,
        long,
        value_name = "STATUSES",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = ALL_FAILURES,
    )]
    pub(super) ignore_failure: Option<String>,
    /// Exit statuses that count as success, separated by commas, such as 0,1 for grep [default: 0]
    #[arg(long, value_name = "STATUSES")]
    pub(super) ok_exit: Option<String>,
    /// Count runs that fail, and do not time them
    #[arg(long, conflicts_with = "ignore_failure")]
    pub(super) drop_failed: bool,
    /// What commands read: null, or a file [default: null]
    #[arg(long, value_name = "WHERE")]
    pub(super) input: Option<PathBuf>,
    /// Where their output goes: null, pipe (through a pipe, and dropped), inherit, or a file with a folder before its name, as
    /// ./log; once for all commands, or once for each [default: null]
    #[arg(long, value_name = "WHERE", conflicts_with = "show_output")]
    pub(super) output: Vec<PathBuf>,
    /// As --output inherit
    #[arg(long)]
    pub(super) show_output: bool,
    /// The time that verdicts are about
    #[arg(long, value_name = "TIME", value_enum, default_value_t)]
    pub(super) by: Quantity,
    /// Change the environment's size from run to run, by up to 4096 bytes drawn at random, because it moves the stack: one size
    /// may favour one of two programs by several percent
    #[arg(long, value_name = "WHEN", value_enum, default_value_t)]
    pub(super) environment_padding: Padding,
    /// Unit of times in tables and in --export-markdown [default: the one that fits]
    #[arg(short = 'u', long, value_name = "UNIT", value_enum)]
    pub(super) time_unit: Option<TimeUnit>,
    /// List every run
    #[arg(long)]
    pub(super) list_runs: bool,
    /// Write hyperfine's JSON, for scripts that read it
    #[arg(long, value_name = "FILE")]
    pub(super) export_json: Option<PathBuf>,
    /// Write hyperfine's CSV
    #[arg(long, value_name = "FILE")]
    pub(super) export_csv: Option<PathBuf>,
    /// Write hyperfine's table, as Markdown
    #[arg(long, value_name = "FILE")]
    pub(super) export_markdown: Option<PathBuf>,
    #[command(flatten)]
    pub(super) common: Common,
}

/// The word by which hyperfine names all failures.
const ALL_FAILURES: &str = "all-non-zero";

/// When the environment's size is varied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Padding {
    /// Where commands are compared
    #[default]
    Auto,
    /// Always
    On,
    /// Never
    Off,
}

impl TimeArgs {
    /// The commands, the reference first.
    ///
    /// # Errors
    /// Exit 2: parameters or names that do not fit.
    pub(super) fn named(&self) -> Result<Vec<Named>> {
        let lists = match self.parameter_scan.as_slice() {
            [name, min, max] => vec![(name.clone(), scanned(min, max, self.parameter_step_size.as_deref())?)],
            _ => self
                .parameter_list
                .chunks_exact(2)
                .map(|pair| (pair[0].clone(), listed(&pair[1])))
                .collect(),
        };
        let reference = self.reference.iter().map(|text| Named {
            name: self.reference_name.clone(),
            text: text.clone(),
            parameters: Vec::new(),
        });
        Ok(reference.chain(all(&self.commands, &lists, &self.names)?).collect())
    }

    /// How so many commands are run.
    ///
    /// # Errors
    /// Exit 2: a value that names nothing.
    pub(super) fn options(&self, commands: usize) -> Result<TimeOptions> {
        let output = match self.show_output {
            true => vec![Output::Inherit],
            false => self
                .output
                .iter()
                .map(|text| Output::parse(text))
                .collect::<Result<_>>()?,
        };
        let shell = match (&self.shell, self.no_shell) {
            (_, true) => Shell::None,
            (Some(text), _) => Shell::parse(text)?,
            (None, _) => Shell::default(),
        };
        let tolerate = match &self.ignore_failure {
            _ if self.drop_failed => Tolerate::Drop,
            None => Tolerate::Nothing,
            Some(mode) if mode == ALL_FAILURES || mode.is_empty() => Tolerate::All,
            Some(statuses) => Tolerate::Codes(codes("--ignore-failure", statuses)?),
        };
        Ok(TimeOptions {
            shell,
            setup: self.setup.clone(),
            prepare: self.prepare.clone(),
            conclude: self.conclude.clone(),
            cleanup: self.cleanup.clone(),
            input: self.input.as_deref().map(Input::parse).transpose()?.unwrap_or_default(),
            output,
            ok_exit: match &self.ok_exit {
                Some(statuses) => codes("--ok-exit", statuses)?,
                None => vec![0],
            },
            tolerate,
            warmup: self.warmup,
            runs: self.runs,
            limit: self.timeout,
            by: self.by,
            environment_padding: match self.environment_padding {
                Padding::Auto => commands > 1,
                Padding::On => true,
                Padding::Off => false,
            },
            seed: self.common.seed,
        })
    }

    /// The fewest and the most runs, where they are not given as one number.
    ///
    /// # Errors
    /// Exit 2: there is none between them.
    pub(super) fn range(&self) -> Result<(u32, Option<u32>)> {
        match (self.min_runs, self.max_runs) {
            (Some(min), Some(max)) if min > max => Err(Error::usage(format!(
                "time: --min-runs {min} is more than --max-runs {max}; give one that is not"
            ))),
            (min, max) => Ok((min.unwrap_or(max.map_or(FEWEST, |max| max.min(FEWEST))), max)),
        }
    }
}

/// Exit statuses, separated by commas.
fn codes(option: &str, text: &str) -> Result<Vec<i32>> {
    let code = |word: &str| {
        let number = word.trim().parse::<i32>().ok().filter(|code| (0..=255).contains(code));
        number.ok_or_else(|| {
            Error::usage(format!(
                "time: {option} {text}: {word:?} is no exit status from 0 to 255"
            ))
        })
    };
    text.split(',').map(code).collect()
}
