//! Figures over several runs, each in its own process.

use super::lengths::ratios_at_lengths;
use super::{Comparison, Record, RunLengths, State, Variant};
use serde::{Deserialize, Serialize};

/// One of the runs of a record: its headline figures, for the variance between runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    pub seed: u64,
    /// When it ended, RFC 3339.
    pub created: String,
    /// Experiment, variant, and the variant's headline median.
    pub medians: Vec<(String, String, f64)>,
    /// The states of these medians, in the same order; empty in records of older versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<State>,
    /// Experiment, variant, and the median of all its samples, in every state of the neighbour; empty in records of older
    /// versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub all: Vec<(String, String, f64)>,
    /// Experiment, `a`, `b`, and the headline ratio of that comparison.
    pub ratios: Vec<(String, String, String, f64)>,
    /// The medians of rows in loops of each length; empty in records of older versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lengths: Vec<RunLengths>,
    /// Experiment, `a`, `b`, and the ratio at each length; of comparisons whose rows have loops of the same lengths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub length_ratios: Vec<(String, String, String, [f64; 3])>,
}

impl Run {
    pub fn of_record(record: &Record) -> Self {
        let mut run = Self {
            seed: record.seed,
            created: record.created.clone(),
            ..Self::default()
        };
        for e in &record.experiments {
            let median = |v: &Variant| (e.name.clone(), v.name.clone(), v.figure().median);
            let all = |v: &Variant| (e.name.clone(), v.name.clone(), v.median);
            let ratio = |c: &Comparison| (e.name.clone(), c.a.clone(), c.b.clone(), c.paired().ratio);
            run.medians.extend(e.variants.iter().map(median));
            run.states.extend(e.variants.iter().map(|v| v.figure().state));
            run.all.extend(e.variants.iter().map(all));
            run.ratios.extend(e.comparisons.iter().map(ratio));
            run.lengths
                .extend(e.variants.iter().filter_map(|v| v.run_lengths(&e.name)));
            let row = |name: &str| e.variants.iter().find(|v| v.name == name);
            let at_lengths = |c: &Comparison| {
                let ratios = ratios_at_lengths(row(&c.a)?, row(&c.b)?, c.paired().state)?;
                Some((e.name.clone(), c.a.clone(), c.b.clone(), ratios))
            };
            run.length_ratios.extend(e.comparisons.iter().filter_map(at_lengths));
        }
        run
    }

    pub(crate) fn forget(&mut self, experiment: &str) {
        let states = std::mem::take(&mut self.states);
        let others = self.medians.iter().zip(states).filter(|(m, _)| m.0 != experiment);
        self.states = others.map(|(_, state)| state).collect();
        self.medians.retain(|m| m.0 != experiment);
        self.all.retain(|m| m.0 != experiment);
        self.ratios.retain(|r| r.0 != experiment);
        self.lengths.retain(|l| l.experiment != experiment);
        self.length_ratios.retain(|r| r.0 != experiment);
    }

    /// A variant's headline median.
    pub fn median(&self, experiment: &str, variant: &str) -> Option<f64> {
        find(&self.medians, experiment, variant).map(|n| self.medians[n].2)
    }

    /// The state of that median; `None` if this run does not have the variant, or does not say.
    pub fn state(&self, experiment: &str, variant: &str) -> Option<State> {
        self.states.get(find(&self.medians, experiment, variant)?).copied()
    }

    /// The median of all samples of a variant; of a run of an older version, which has no other, its headline median.
    pub fn median_of_all(&self, experiment: &str, variant: &str) -> Option<f64> {
        find(&self.all, experiment, variant)
            .map(|n| self.all[n].2)
            .or_else(|| self.median(experiment, variant))
    }

    pub fn ratio(&self, experiment: &str, a: &str, b: &str) -> Option<f64> {
        let is = |r: &&(String, String, String, f64)| r.0 == experiment && r.1 == a && r.2 == b;
        self.ratios.iter().find(is).map(|r| r.3)
    }

    /// The medians of a variant at each length.
    pub fn lengths(&self, experiment: &str, variant: &str) -> Option<&RunLengths> {
        let is = |l: &&RunLengths| l.experiment == experiment && l.variant == variant;
        self.lengths.iter().find(is)
    }

    /// The ratios of a comparison of `a` and `b` at each length.
    pub fn ratios_at_lengths(&self, experiment: &str, a: &str, b: &str) -> Option<[f64; 3]> {
        let is = |r: &&(String, String, String, [f64; 3])| r.0 == experiment && r.1 == a && r.2 == b;
        self.length_ratios.iter().find(is).map(|r| r.3)
    }
}

/// The place of a variant in a list of medians.
fn find(medians: &[(String, String, f64)], experiment: &str, variant: &str) -> Option<usize> {
    medians.iter().position(|(e, v, _)| e == experiment && v == variant)
}

/// What the verdict on a variant in two records rests on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Basis {
    /// The state of the neighbour whose samples are compared.
    pub state: State,
    pub base_runs: usize,
    pub other_runs: usize,
    /// The base's median; of several runs, the geometric mean of their medians.
    pub base: f64,
    pub other: f64,
    /// The spread that the data show, as a share: between runs where there are several, between blocks of the run elsewhere.
    pub spread: f64,
    /// Two-sided p of the difference between runs; `None` if both records have one run.
    pub p: Option<f64>,
    /// The evidence as a sentence part.
    pub seen: String,
}
