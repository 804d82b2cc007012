//! Comparisons of two variants, and their verdicts.

use super::{BetweenRuns, Interval, State};
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
    /// The other states.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<Paired>,
    /// Each test that the verdict rests on, with its figure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<Test>,
    /// The headline ratio over several runs; `None` if the record has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub between: Option<BetweenRuns>,
    /// The result.
    pub verdict: Verdict,
    /// Why there is no verdict, why it is undecided, within which margin the two are the same, or how it depends on the neighbour.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

fn one() -> f64 {
    1.0
}

/// How a comparison is decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Estimator {
    /// The median of the differences of paired rounds, with its order-statistic interval.
    Median,
    /// The difference of means by Welch's t, as the source did.
    #[default]
    Welch,
}

/// Paired differences of two variants in one state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Paired {
    /// The state.
    pub state: State,
    /// Rounds in which both samples were kept, in this state.
    pub n: usize,
    /// The number of independent rounds that would know as much.
    pub effective_n: f64,
    /// Correlation of a round's difference with the next.
    pub autocorrelation: Option<f64>,
    /// The median of a − b.
    pub difference: f64,
    /// 95 % interval of that median.
    pub ci95: Interval,
    /// The median of a / b.
    pub ratio: f64,
    /// 95 % interval of the ratio.
    pub ratio_ci95: Interval,
    /// Two-sided p of the sign test over `effective_n` rounds. If those are fewer than 20: of Student's paired t, or twice the
    /// smaller of the two where `n` is 20 or more.
    pub p: f64,
    /// The verdict that this state alone would give.
    pub verdict: Verdict,
}

/// One test that a verdict rests on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Test {
    /// Its name.
    pub name: String,
    /// Its figure, as a sentence part with numbers.
    pub seen: String,
    /// Whether it agrees that there is a difference.
    pub passed: bool,
}

/// The result of a comparison, about its `a`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// `a` is faster than `b`.
    Faster,
    /// `a` is slower than `b`.
    Slower,
    /// `a` and `b` are the same within the stated margin.
    Same,
    /// The data neither show a difference nor exclude one.
    #[default]
    #[serde(alias = "indistinguishable")]
    Undecided,
    /// There can be no verdict; the reason says why.
    None,
    /// `a` is faster in one state of the neighbour and slower in another.
    Depends,
}

impl Verdict {
    /// The verdict's name in the JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Faster => "faster",
            Verdict::Slower => "slower",
            Verdict::Same => "same",
            Verdict::Undecided => "undecided",
            Verdict::None => "none",
            Verdict::Depends => "depends",
        }
    }

    /// The verdict in words.
    pub fn in_words(self) -> &'static str {
        match self {
            Verdict::None => "no verdict",
            Verdict::Depends => "depends on the neighbour",
            other => other.as_str(),
        }
    }

    /// Whether one is said to be better: faster or slower.
    pub fn is_claim(self) -> bool {
        matches!(self, Verdict::Faster | Verdict::Slower)
    }
}
