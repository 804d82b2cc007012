//! The comparison of records: the JSON schema `cyclewise.comparison/1`.
//!
//! The report's page is rendered from the same data.

use super::fleet_report::FleetReport;
pub use super::lengths::CompareAtLength;
use super::{Basis, Interval, Machine, Tool, Unit, Verdict};
use serde::{Deserialize, Serialize};

/// The schema this build writes.
pub const SCHEMA: &str = "cyclewise.comparison/1";

/// A comparison of two or more records.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CompareReport {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// The records, in the order they were given.
    pub records: Vec<RecordHead>,
    /// Reasons for caution: machines that differ, experiments in only one record.
    pub warnings: Vec<String>,
    /// The experiments that at least two records contain.
    pub experiments: Vec<CompareExperiment>,
    /// Of three or more records, all of them side by side: each is a machine of this fleet, by its letter. `None` of two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleet: Option<FleetReport>,
}

/// With more records than this, tables and pages have them side by side, and no comparison of each with the first, which would
/// be as many sections as there are records. The JSON has both.
pub const MOST_PAIRED: usize = 12;

/// One of the compared records, without its figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordHead {
    /// Its name in the comparison, which no other has: a letter, the CPU and the date, `A: AMD EPYC (2026-11-21)`.
    pub label: String,
    pub runs: usize,
    /// When its run ended, RFC 3339.
    pub created: String,
    /// The program that wrote it.
    pub tool: Tool,
    pub machine: Machine,
    pub seed: u64,
}

/// One experiment, in every record that contains it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CompareExperiment {
    /// The name scripts use.
    pub name: String,
    pub question: String,
    pub unit: Unit,
    /// The larger noise floor of the compared records, as a share of the larger of two figures; `None` if one of them has no control.
    pub floor: Option<f64>,
    /// One row per variant and pair of records that both contain it.
    pub rows: Vec<CompareRow>,
    pub notes: Vec<String>,
}

/// One variant in two records. The verdict is about `other`, compared with `base`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CompareRow {
    pub variant: String,
    /// Index of the base in [`CompareReport::records`].
    pub base: usize,
    /// Index of the record that the verdict is about.
    pub other: usize,
    /// The base's figures.
    pub base_stats: Side,
    /// The other's figures.
    pub other_stats: Side,
    /// mean(other) − mean(base).
    pub difference: f64,
    /// 95 % confidence interval of the difference (Welch).
    pub ci95: [f64; 2],
    /// The other's median divided by the base's, as in `basis`.
    pub ratio: f64,
    /// 95 % interval of the ratio between runs; with one run on each side, the ratio within the spread of `basis`.
    pub ratio_ci95: Interval,
    /// The two in loops of each length, where one of them is not linear in its copies; `ratio` is then the one of these that is
    /// nearest to 1, and its interval reaches from their least bound to their greatest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lengths: Vec<CompareAtLength>,
    /// What the verdict rests on.
    pub basis: Basis,
    /// Welch's t over the samples, which decides nothing: the samples of a run are not independent, and runs differ.
    pub t: f64,
    /// Welch–Satterthwaite degrees of freedom.
    pub df: f64,
    /// Two-sided p of Welch's t.
    pub p: f64,
    /// Two-sided p of Mann–Whitney.
    pub p_rank: f64,
    /// `p` after Holm's correction over the comparison's rows.
    pub p_holm: f64,
    /// The result, about `other`.
    pub verdict: Verdict,
    /// Why there is no verdict, or why it is undecided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<super::Reason>,
    /// The base's kept samples, for plots; not in the JSON.
    #[serde(skip)]
    pub base_samples: Vec<f64>,
    /// The other's kept samples, for plots; not in the JSON.
    #[serde(skip)]
    pub other_samples: Vec<f64>,
}

/// A variant's figures in one record.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// Samples kept.
    pub n: usize,
    /// Arithmetic mean.
    pub mean: f64,
    /// Sample standard deviation (n − 1).
    pub sd: f64,
    /// 95 % confidence interval of the mean (Student's t).
    pub ci95: [f64; 2],
}
