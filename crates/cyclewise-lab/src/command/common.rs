//! The options of every subcommand that measures.

use crate::record::Estimator;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

#[derive(Args)]
pub(super) struct Common {
    /// Seed of the variants' order and of the bootstrap
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(super) seed: u64,
    /// What verdicts rest on
    #[arg(long, value_name = "TEST", value_enum, default_value_t = DecidingTest::Median)]
    pub(super) test: DecidingTest,
    /// Write the record as JSON; `-` writes it to stdout instead of the table. Like every document, it is compressed by gzip if
    /// its name ends in .gz
    #[arg(long, value_name = "PATH")]
    pub(super) json: Option<PathBuf>,
    /// Write CSV, one line per variant
    #[arg(long, value_name = "PATH")]
    pub(super) csv: Option<PathBuf>,
    /// Write Bencher Metric Format, for CI dashboards
    #[arg(long, value_name = "PATH")]
    pub(super) bmf: Option<PathBuf>,
    /// Write the report as an HTML page
    #[arg(long, value_name = "PATH")]
    pub(super) html: Option<PathBuf>,
    /// Leave out who measured: the names of the node, its boot and its job become hashes made with the key in this file
    ///
    /// A node has the same name in all records that are made with one key, and only the key holder can recover a node's name:
    /// `openssl rand -hex 32 > KEYFILE` makes one for a fleet. Paths of the command line, the home folder and the firmware's
    /// free texts are left out too. Timed commands are kept verbatim. What kind of machine it is stays
    /// as well: its CPU, its kernel's release, its vendor's names of product, board and firmware; and so do the times of measurement.
    #[arg(long, value_name = "KEYFILE")]
    pub(super) anonymous: Option<PathBuf>,
    /// Print every column [default: those that fit the terminal, at most 100 characters]
    #[arg(long)]
    pub(super) wide: bool,
}

/// What verdicts rest on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum DecidingTest {
    /// The median of paired rounds in the quiet state of the machine
    Median,
    /// The means of all samples: Welch's t, the rank test, the bootstrap and the noise floor have to agree
    Welch,
}

impl From<DecidingTest> for Estimator {
    fn from(test: DecidingTest) -> Self {
        match test {
            DecidingTest::Median => Self::Median,
            DecidingTest::Welch => Self::Welch,
        }
    }
}

/// More would overflow what is made of it, such as ticks.
const YEAR: Duration = Duration::from_secs(365 * 86_400);

/// A time in seconds, such as 0.5.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().and_then(|s| Duration::try_from_secs_f64(s).ok());
    seconds
        .filter(|time| !time.is_zero() && *time <= YEAR)
        .ok_or_else(|| "not a time; give seconds, such as 0.5, up to a year".to_owned())
}
