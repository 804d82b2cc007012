//! The recommendation: the JSON schema `cyclewise.recommendation/1`.

use super::candidate::Candidate;
use crate::Machine;
use crate::predict::Range;
use cyclewise_bench::record::Tool;
use serde::Serialize;

/// The schema of the document.
pub(crate) const SCHEMA: &str = "cyclewise.recommendation/1";

/// A recommendation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Recommendation {
    /// Always [`SCHEMA`].
    pub schema: &'static str,
    /// The program that wrote it.
    pub tool: Tool,
    /// The machine in full.
    pub machine: Machine,
    /// Critical work, in cycles.
    pub critical_cycles: u32,
    /// Parallel work, in cycles.
    pub parallel_cycles: u32,
    /// The first seed.
    pub seed: u64,
    /// The choices, by kind and then by threads.
    pub choices: Vec<Choice>,
    /// What was asked for and not simulated, because a signal asked for an end.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
}

/// The choice for one kind of primitive and one thread count.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Choice {
    /// The kind of primitive.
    pub kind: &'static str,
    /// Threads.
    pub threads: u32,
    /// The recommended candidate.
    pub take: Candidate,
    /// Its nanoseconds per operation.
    pub range: Range,
    /// Every other candidate that makes progress and starves no thread, the fastest first.
    pub others: Vec<Other>,
    /// What to measure, where the model cannot tell a faster candidate from the recommended one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measure: Option<&'static str>,
    /// Candidates without a prediction: they make no progress on this machine, or it does not say what their waiters cost.
    pub refused: Vec<Candidate>,
    /// Candidates excluded because a thread starved.
    pub starving: Vec<Candidate>,
}

/// Another candidate.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Other {
    /// The candidate.
    #[serde(flatten)]
    pub candidate: Candidate,
    /// Its time divided by that of the recommended one: the least and the most of the runs.
    pub ratio: [f64; 2],
    /// By which factor nine of ten such ratios of held-out machines were off at most; `None` where too few are known.
    pub off: Option<f64>,
    /// How the recommended candidate compares with it.
    pub verdict: Verdict,
}

/// How a candidate compares with another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Verdict {
    /// It is faster, over the whole range and beyond the model's error.
    Faster,
    /// They differ by less than 5 % in each run, because they do the same.
    Alike,
    /// The order, or the model's error, does not tell.
    CannotTell,
}
