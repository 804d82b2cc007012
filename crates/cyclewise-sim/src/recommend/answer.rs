//! The recommendation: the JSON schema `cyclewise.recommendation/1`.

use super::candidate::Candidate;
use crate::Machine;
use crate::band::Band;
use cyclewise_bench::record::{Tool, Verdict};
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
    /// The first and the last seed.
    pub seeds: [u64; 2],
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
    /// Its total rate: geometric mean over the seeds.
    pub ops_per_s: f64,
    /// By how much that may be off; `None` if too few rows like it were predicted unseen.
    pub band: Option<Band>,
    /// Jain's index of its threads' shares, from 1/threads to 1: mean over the seeds.
    pub jain: f64,
    /// The best other candidate, if there is one.
    pub next: Option<Rival>,
    /// The worst other candidate.
    pub worst: Option<Worst>,
    /// All candidates that cannot be told from the best, including `take`.
    pub alike: Vec<Candidate>,
    /// What to measure, where the model cannot tell the next best candidate from this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measure: Option<&'static str>,
    /// Candidates that make no progress on this machine.
    pub stuck: Vec<Candidate>,
    /// Candidates excluded because a thread starved for a whole long run.
    pub starving: Vec<Candidate>,
}

/// The next best candidate.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Rival {
    /// The candidate.
    #[serde(flatten)]
    pub candidate: Candidate,
    /// The recommended candidate's rate divided by its rate: geometric means over the seeds.
    pub ratio: f64,
    /// 95 % confidence interval of the ratio (Welch, of logarithms).
    pub ratio_ci95: [f64; 2],
    /// That interval, widened by the model's error bands of both; `None` if one of them has none.
    pub model_interval: Option<[f64; 2]>,
    /// Whether the two differ: `undecided` if it cannot be told.
    pub verdict: Verdict,
    /// Why it cannot be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doubt: Option<Doubt>,
}

/// Why the model cannot tell two candidates apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Doubt {
    /// They differ by no more than 5 %.
    Small,
    /// The difference is not significant over the seeds.
    Seeds,
    /// It is not larger than the model's errors on rows that it had not seen.
    Model,
    /// Too few rows of the machine were predicted unseen, so the model's errors are not known.
    Untested,
}

impl Doubt {
    /// Whether a measurement on the machine would decide.
    pub(crate) fn is_of_the_model(self) -> bool {
        matches!(self, Self::Model | Self::Untested)
    }
}

/// The worst candidate.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Worst {
    /// The candidate.
    #[serde(flatten)]
    pub candidate: Candidate,
    /// The recommended candidate's rate divided by its rate, in one short run of each.
    pub ratio: f64,
}
