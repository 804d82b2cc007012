//! The comparison: the JSON of records held against each other, as `cyclewise.comparison/1` promises it to scripts.
//!
//! JSON and the report's page are both written from it, so neither can say what the other does not.

use super::{Machine, Tool, Unit, Verdict};
use serde::{Deserialize, Serialize};

/// The schema this build writes.
pub const SCHEMA: &str = "cyclewise.comparison/1";

/// Two or more records held against each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CompareReport {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// The records, in the order they were given.
    pub records: Vec<RecordHead>,
    /// What a reader should know before trusting the comparison: machines that differ, experiments held by one side only.
    pub warnings: Vec<String>,
    /// The experiments that at least two records hold.
    pub experiments: Vec<CompareExperiment>,
}

/// One of the records compared: everything but its figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordHead {
    /// What the comparison calls it: the file's name.
    pub label: String,
    /// When its run ended, RFC 3339.
    pub created: String,
    /// What wrote it.
    pub tool: Tool,
    /// Where it ran.
    pub machine: Machine,
    /// Seed of its run.
    pub seed: u64,
}

/// One experiment, in every record that holds it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CompareExperiment {
    /// The name scripts use.
    pub name: String,
    /// The question it answers.
    pub question: String,
    /// What the samples count.
    pub unit: Unit,
    /// The larger noise floor of the records compared, as a share of the mean; `None` where neither has a control.
    pub floor: Option<f64>,
    /// One row for each variant and pair of records that both hold it.
    pub rows: Vec<CompareRow>,
    /// What a reader should know of this experiment.
    pub notes: Vec<String>,
}

/// One variant in two records. The verdict speaks of `other`, held against `base`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CompareRow {
    /// The variant.
    pub variant: String,
    /// Index of the base in [`CompareReport::records`].
    pub base: usize,
    /// Index of the record spoken of.
    pub other: usize,
    /// What the base holds.
    pub base_stats: Side,
    /// What the other holds.
    pub other_stats: Side,
    /// mean(other) − mean(base).
    pub difference: f64,
    /// 95 % confidence interval of the difference (Welch).
    pub ci95: [f64; 2],
    /// mean(other) / mean(base).
    pub ratio: f64,
    /// 95 % bootstrap interval of the ratio.
    pub ratio_ci95: [f64; 2],
    /// Welch's t.
    pub t: f64,
    /// Welch–Satterthwaite degrees of freedom.
    pub df: f64,
    /// Two-sided p of Welch's t.
    pub p: f64,
    /// Two-sided p of Mann–Whitney.
    pub p_rank: f64,
    /// `p` after Holm's correction over the comparison's rows.
    pub p_holm: f64,
    /// What it comes to, said of `other`.
    pub verdict: Verdict,
    /// The base's kept samples, for plots; the records themselves hold them for scripts.
    #[serde(skip)]
    pub base_samples: Vec<f64>,
    /// The other's kept samples, for plots.
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
