//! The record: the JSON of one run, as `cyclewise.record/1` promises it to scripts.
//!
//! Fields are only ever added within version 1; readers ignore what they do not know.

pub mod compare;
mod load;
mod machine;
pub mod simulation;

pub use load::{from_str, load, read, schema_of};
pub use machine::{CyclesPerTick, Machine, Topology};

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The schema this build writes.
pub const SCHEMA: &str = "cyclewise.record/1";

/// One run of the lab.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// When the run ended, RFC 3339.
    pub created: String,
    /// What wrote it.
    pub tool: Tool,
    /// Seed of the order of variants and of the bootstrap.
    pub seed: u64,
    /// The command line after the program's name.
    #[serde(default)]
    pub command: Vec<String>,
    /// Where it ran.
    pub machine: Machine,
    /// What was measured.
    pub experiments: Vec<Experiment>,
}

/// The program that wrote a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    /// The package's version.
    pub version: String,
    /// The commit it was built from, where known.
    pub commit: Option<String>,
}

impl Tool {
    /// This build.
    pub fn here() -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION").to_string(),
            commit: option_env!("CYCLEWISE_COMMIT").map(str::to_string),
        }
    }
}

/// What a sample counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unit {
    /// Timer ticks per operation.
    #[serde(rename = "tick/op")]
    TicksPerOp,
    /// Nanoseconds per operation.
    #[serde(rename = "ns/op")]
    NanosPerOp,
    /// Operations per second: the one unit in which more is faster.
    #[serde(rename = "op/s")]
    OpsPerSecond,
    /// Seconds per run.
    #[serde(rename = "s")]
    Seconds,
}

impl Unit {
    /// The unit as the JSON spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            Unit::TicksPerOp => "tick/op",
            Unit::NanosPerOp => "ns/op",
            Unit::OpsPerSecond => "op/s",
            Unit::Seconds => "s",
        }
    }

    /// Whether a larger value is the faster one.
    pub fn more_is_faster(self) -> bool {
        self == Unit::OpsPerSecond
    }
}

/// Variants that answer one question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Experiment {
    /// The name scripts use.
    pub name: String,
    /// The question it answers.
    pub question: String,
    /// Where the question comes from.
    pub source: String,
    /// What the samples count.
    pub unit: Unit,
    /// Rounds run; every variant is sampled once in each.
    #[serde(default)]
    pub rounds: usize,
    /// The A/A control and the noise floor it gave.
    #[serde(default)]
    pub control: Option<Control>,
    /// One row each.
    pub variants: Vec<Variant>,
    /// Who against whom.
    pub comparisons: Vec<Comparison>,
    /// What a reader should know of this experiment.
    pub notes: Vec<String>,
}

/// One variant measured against itself in the same rounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Control {
    /// The variant that was measured twice.
    pub of: String,
    /// Kept samples of the second measurement.
    pub n: usize,
    /// mean(variant) − mean(control), in the experiment's unit.
    pub difference: f64,
    /// 99 % confidence interval of the difference.
    pub ci99: [f64; 2],
    /// The noise floor as a share of the mean: the far end of that interval.
    pub floor: f64,
    /// Second measurement's samples; empty where the control splits the first's rounds in two.
    #[serde(default)]
    pub samples: Vec<f64>,
}

/// One way of doing an operation, measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Variant {
    /// The name scripts use.
    pub name: String,
    /// Samples kept.
    pub n: usize,
    /// Samples thrown away, all reasons together.
    pub rejected: usize,
    /// Samples thrown away, by reason: `preempted`, `migrated`, `stolen`, `clock`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub rejected_by: BTreeMap<String, usize>,
    /// Rounds whose sample was thrown away, so that a reader can pair the rest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rejected_rounds: Vec<usize>,
    /// Arithmetic mean.
    pub mean: f64,
    /// Sample standard deviation (n − 1).
    pub sd: f64,
    /// Median.
    pub median: f64,
    /// Smallest sample.
    pub min: f64,
    /// 95 % confidence interval of the mean (Student's t).
    pub ci95: [f64; 2],
    /// Bytes of one operation's code, where known.
    pub code_bytes: Option<u32>,
    /// Core cycles, instructions, IPC, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycles: Option<Cycles>,
    /// Other quantities of each run (user and system time, memory), by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metrics: BTreeMap<String, Metric>,
    /// Kept samples in the order of their rounds.
    pub samples: Vec<f64>,
}

/// Core cycles of one operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cycles {
    /// Core cycles per operation.
    pub per_op: f64,
    /// 95 % confidence interval.
    pub ci95: [f64; 2],
    /// Instructions per operation; only a PMU knows.
    pub instructions: Option<f64>,
    /// Instructions per cycle; only a PMU knows.
    pub ipc: Option<f64>,
    /// `pmu` or `add-chain`.
    pub source: String,
}

/// A quantity measured beside the main one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Metric {
    /// Its unit.
    pub unit: String,
    /// Arithmetic mean.
    pub mean: f64,
    /// Sample standard deviation.
    pub sd: f64,
    /// One value for each kept sample.
    pub samples: Vec<f64>,
}

/// Two variants held against each other. The verdict speaks of `a`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The variant spoken of.
    pub a: String,
    /// What it is held against.
    pub b: String,
    /// mean(a) − mean(b).
    pub difference: f64,
    /// 95 % confidence interval of the difference (Welch).
    pub ci95: [f64; 2],
    /// mean(a) / mean(b).
    pub ratio: f64,
    /// 95 % bootstrap interval of the ratio, over paired rounds where there are.
    pub ratio_ci95: [f64; 2],
    /// Welch's t.
    pub t: f64,
    /// Welch–Satterthwaite degrees of freedom.
    pub df: f64,
    /// Two-sided p of Welch's t.
    pub p: f64,
    /// Two-sided p of Mann–Whitney.
    pub p_rank: f64,
    /// `p` after Holm's correction over the record's comparisons.
    #[serde(default = "one")]
    pub p_holm: f64,
    /// What it comes to.
    pub verdict: Verdict,
}

fn one() -> f64 {
    1.0
}

/// What a comparison comes to, said of its `a`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// `a` is faster than `b`.
    Faster,
    /// `a` is slower than `b`.
    Slower,
    /// The data do not tell them apart.
    Indistinguishable,
}

impl Verdict {
    /// The word the JSON uses.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Faster => "faster",
            Verdict::Slower => "slower",
            Verdict::Indistinguishable => "indistinguishable",
        }
    }
}
