//! Comparisons of two variants, and their verdicts.

use super::{Among, BetweenRuns, Interval, Paired, QuantityRatio, Reason, Test, Verdict};
use serde::{Deserialize, Serialize};

/// A comparison of two variants. The verdict is about `a`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The variant that the verdict is about.
    pub a: String,
    /// The variant it is compared with.
    pub b: String,
    /// mean(a) − mean(b).
    pub difference: f64,
    /// 95 % confidence interval of the difference (Welch).
    pub ci95: [f64; 2],
    /// mean(a) / mean(b).
    pub ratio: f64,
    /// 95 % bootstrap interval of the ratio, over paired rounds if there are any.
    pub ratio_ci95: Interval,
    /// Welch's t.
    pub t: f64,
    /// Welch–Satterthwaite degrees of freedom.
    pub df: f64,
    /// Two-sided p of Welch's t.
    pub p: f64,
    /// Two-sided p of Mann–Whitney.
    pub p_rank: f64,
    /// The deciding p after Holm's correction over the record's comparisons.
    #[serde(default = "one")]
    pub p_holm: f64,
    /// The test that decides.
    #[serde(default)]
    pub estimator: Estimator,
    /// The headline: paired differences of the quiet state where enough rounds were quiet, of all rounds elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headline: Option<Paired>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<Paired>,
    /// The two in loops of each length, where one of them is not linear, so that slopes are no costs. They then decide.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lengths: Vec<PairAtLength>,
    /// The two among other instructions, where both were measured there and `lengths` decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub among: Option<Among>,
    /// Wall, user and CPU time, of two commands.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quantities: Vec<QuantityRatio>,
    /// Each test that the verdict rests on, with its figure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<Test>,
    /// The headline ratio over several runs; `None` if the record has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub between: Option<BetweenRuns>,
    pub verdict: Verdict,
    /// Why there is no verdict, why it is undecided, within which margin the two are the same, or how it depends on the neighbour.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
}

/// Two rows in the loops of a length.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PairAtLength {
    pub copies: f64,
    /// The two in each state in which one of them is not linear.
    pub figures: Vec<Paired>,
    /// The headline ratio over several runs; `None` if the record has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub between: Option<BetweenRuns>,
}

fn one() -> f64 {
    1.0
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Estimator {
    /// The median of the differences of paired rounds, with its order-statistic interval.
    Median,
    /// The difference of means by Welch's t, as the source did.
    #[default]
    Welch,
}
