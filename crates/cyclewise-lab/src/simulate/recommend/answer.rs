//! What is recommended, as the document `cyclewise.recommendation/1` has it.

use super::candidate::Candidate;
use crate::record::{Tool, Verdict};
use cyclewise_sim::Machine;
use serde::Serialize;

/// The schema of the document.
pub const SCHEMA: &str = "cyclewise.recommendation/1";

/// What came of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Recommendation {
    /// Always [`SCHEMA`].
    pub schema: &'static str,
    /// What wrote it.
    pub tool: Tool,
    /// The machine in full.
    pub machine: Machine,
    /// Work inside, in cycles.
    pub critical_cycles: u32,
    /// Work between, in cycles.
    pub parallel_cycles: u32,
    /// The seeds, from the first to the last.
    pub seeds: [u64; 2],
    /// By kind, then by threads.
    pub choices: Vec<Choice>,
}

/// What to take for one thing on so many threads.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Choice {
    /// What it is for.
    pub kind: &'static str,
    /// Threads.
    pub threads: u32,
    /// What to take.
    pub take: Candidate,
    /// Its rate: geometric mean over the seeds, all threads together.
    pub ops_per_s: f64,
    /// Jain's index of its threads' shares, from 1 / threads to 1: mean over the seeds.
    pub jain: f64,
    /// The best of the others, where there is one.
    pub next: Option<Rival>,
    /// The worst of the others: what is at stake.
    pub worst: Option<Stake>,
    /// Every candidate that cannot be told from the best, that is taken among them.
    pub alike: Vec<Candidate>,
    /// Candidates that got nowhere under this machine's laws.
    pub stuck: Vec<Candidate>,
    /// Candidates under which a thread got nothing in a whole long run, while others went on. They are not taken.
    pub starving: Vec<Candidate>,
}

/// A candidate that was not taken.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rival {
    /// Which.
    #[serde(flatten)]
    pub candidate: Candidate,
    /// Rate of the one taken to its rate: geometric means over the seeds.
    pub ratio: f64,
    /// 95 % interval of that (Welch, of logarithms).
    pub ratio_ci95: [f64; 2],
    /// Whether they can be told apart.
    pub verdict: Verdict,
}

/// The candidate that did worst.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Stake {
    /// Which.
    #[serde(flatten)]
    pub candidate: Candidate,
    /// Rate of the one taken to its rate, in one short run of each.
    pub ratio: f64,
}
