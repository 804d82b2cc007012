//! Figures over several runs, each in its own process.

use super::{Comparison, Interval, Record, State, Variant};
use serde::{Deserialize, Serialize};

/// One of the runs of a record: its headline figures, for the variance between runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Its seed.
    pub seed: u64,
    /// When it ended, RFC 3339.
    pub created: String,
    /// Experiment, variant, and the variant's headline median.
    pub medians: Vec<(String, String, f64)>,
    /// Experiment, `a`, `b`, and the headline ratio of that comparison.
    #[serde(default)]
    pub ratios: Vec<(String, String, String, f64)>,
}

impl Run {
    /// The figures of a record of one run.
    pub fn of(record: &Record) -> Self {
        let mut run = Self {
            seed: record.seed,
            created: record.created.clone(),
            ..Self::default()
        };
        for e in &record.experiments {
            let median = |v: &Variant| (e.name.clone(), v.name.clone(), v.figure().median);
            let ratio = |c: &Comparison| (e.name.clone(), c.a.clone(), c.b.clone(), c.paired().ratio);
            run.medians.extend(e.variants.iter().map(median));
            run.ratios.extend(e.comparisons.iter().map(ratio));
        }
        run
    }

    /// A variant's median.
    pub fn median(&self, experiment: &str, variant: &str) -> Option<f64> {
        let found = self.medians.iter().find(|(e, v, _)| e == experiment && v == variant);
        found.map(|(_, _, median)| *median)
    }

    /// The ratio of a comparison of `a` and `b`.
    pub fn ratio(&self, experiment: &str, a: &str, b: &str) -> Option<f64> {
        let is = |r: &&(String, String, String, f64)| r.0 == experiment && r.1 == a && r.2 == b;
        self.ratios.iter().find(is).map(|r| r.3)
    }
}

/// A positive figure over several runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BetweenRuns {
    /// Runs that have the figure.
    pub runs: usize,
    /// The geometric mean of the runs' figures.
    pub value: f64,
    /// 95 % interval of the value, by Student's t over the logarithms.
    pub ci95: Interval,
}

/// What the verdict on a variant in two records rests on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Basis {
    /// The state of the neighbour whose samples are compared.
    pub state: State,
    /// Runs of the base.
    pub base_runs: usize,
    /// Runs of the other.
    pub other_runs: usize,
    /// The base's median; of several runs, the geometric mean of their medians.
    pub base: f64,
    /// The other's.
    pub other: f64,
    /// The spread that the data show, as a share: between runs where there are several, between blocks of the run elsewhere.
    pub spread: f64,
    /// Two-sided p of the difference between runs; `None` if both records have one run.
    pub p: Option<f64>,
    /// The evidence as a sentence part.
    pub seen: String,
}
