//! Learns the laws of each family of machines from the learning half.
//!
//! The score of laws for a family is the mean over groups of rows, of the mean over machines, of the mean error of the machine's contended rows
//! of the group, as a logarithm. So neither a machine with many rows nor a group that many machines have outweighs the others. `search.rs`
//! says how the laws with the least score are found.
//!
//! For every machine of a family the same is done without it: what such laws predict for the machine is held out, and gives the family its
//! error bands.

use super::anchor::anchored;
use super::band::{self, Band, HeldOutRow};
use super::data::PublishedMachine;
use super::laws::{Laws, Space};
use super::pairs::{self, Pair};
use super::search::{Scores, mean};
use super::split::{Half, LEAST_MACHINES, half};
use super::{Group, data};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// By how much each law beyond the simplest must reduce the score, a mean of logarithms: about half a percent of the time.
const LAW: f64 = 0.005;

/// What was learned of a family.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Learned {
    /// Machines with the same kind of interconnect and atomics.
    pub family: String,
    /// Laws from all of its machines.
    pub laws: Laws,
    /// Laws without one machine each.
    pub folds: Vec<Fold>,
    /// What those predict for that machine, as bands.
    pub bands: Vec<Band>,
    /// And as errors of ratios.
    pub pairs: Vec<Pair>,
}

impl Learned {
    /// The band of a group; `None` if too few machines have rows of it.
    pub fn band(&self, group: Group) -> Option<Band> {
        self.bands.iter().find(|band| band.group == group).copied()
    }
}

/// Laws from a family without one machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fold {
    /// The machine that was left out.
    pub without: String,
    /// The laws of the others.
    pub laws: Laws,
}

/// The machines to learn from: those of the half whose transfer times are known.
pub fn learners() -> Vec<PublishedMachine> {
    let machines = data::machines().into_iter();
    machines
        .filter(|machine| half(&machine.name) == Half::Learn && machine.transfers().is_some())
        .collect()
}

/// The families with enough machines.
pub fn families(learners: &[PublishedMachine]) -> Vec<String> {
    let all: BTreeSet<&str> = learners.iter().map(|machine| machine.family.as_str()).collect();
    let count = |family: &str| learners.iter().filter(|machine| machine.family == family).count();
    let enough = all.into_iter().filter(|family| count(family) >= LEAST_MACHINES);
    enough.map(str::to_owned).collect()
}

/// Learns the laws of every family.
pub fn learn(learners: &[PublishedMachine], space: &Space) -> Vec<Learned> {
    let mut scores = Scores::new(learners, space, LAW, errors);
    let mut best = |members: &[usize]| space.at(scores.best(members, &|_| true));
    let mut all = Vec::new();
    for family in families(learners) {
        let members: Vec<usize> = (0..learners.len()).filter(|m| learners[*m].family == family).collect();
        let laws = best(&members);
        let mut folds = Vec::new();
        for left_out in &members {
            let others: Vec<usize> = members.iter().copied().filter(|m| m != left_out).collect();
            folds.push(Fold {
                without: learners[*left_out].name.clone(),
                laws: best(&others),
            });
        }
        let rows = held_out(learners, &folds);
        all.push(Learned {
            family,
            laws,
            bands: band::bands(&rows),
            pairs: pairs::pairs(&rows),
            folds,
        });
    }
    all
}

/// What each fold predicts for the machine that it was learned without.
///
/// # Panics
/// If a fold is not of these machines.
pub fn held_out(learners: &[PublishedMachine], folds: &[Fold]) -> Vec<HeldOutRow> {
    let mut all = Vec::new();
    for fold in folds {
        let named = |machine: &PublishedMachine| machine.name == fold.without;
        let machine = learners.iter().position(named).expect("a fold of these machines");
        let built = anchored(&learners[machine], &fold.laws);
        for (group, row) in learners[machine].contended() {
            if built.as_ref().is_some_and(|built| !built.knows(group.pattern)) {
                continue;
            }
            let predicted = built.as_ref().and_then(|built| built.predict(&row));
            // A row without progress counts as never done.
            let predicted = predicted.map_or(NEVER_NS, |prediction| prediction.middle().ns_per_op);
            all.push(HeldOutRow {
                machine,
                group,
                row,
                predicted,
            });
        }
    }
    all
}

/// The time of an operation that is never done.
const NEVER_NS: f64 = 1e9;

/// How badly laws predict a machine: the mean error of each group, as a logarithm.
fn errors(machine: &PublishedMachine, laws: &Laws) -> BTreeMap<Group, f64> {
    /// The most that a row counts, also one without progress: a factor of 4.5.
    const MOST: f64 = 1.5;
    let built = anchored(machine, laws);
    let mut groups: BTreeMap<Group, Vec<f64>> = BTreeMap::new();
    for (group, row) in machine.contended() {
        // One run: the search makes thousands.
        let predicted = built.as_ref().and_then(|built| built.simulate(&row));
        let error = predicted.map_or(MOST, |ns| (ns / row.ns).ln().abs());
        groups.entry(group).or_default().push(error.min(MOST));
    }
    groups
        .into_iter()
        .map(|(group, errors)| (group, mean(&errors)))
        .collect()
}

/// What was learned when `data/laws.toml` was written.
pub fn learned() -> &'static [Learned] {
    #[derive(Deserialize)]
    struct File {
        learned: Vec<Learned>,
    }
    static LEARNED: LazyLock<Vec<Learned>> = LazyLock::new(|| {
        let file: File = toml::from_str(include_str!("../../data/laws.toml")).expect("a test reads the file");
        file.learned
    });
    &LEARNED
}

/// The text of `data/laws.toml`.
pub fn to_toml(learned: &[Learned]) -> String {
    #[derive(Serialize)]
    struct File<'a> {
        learned: &'a [Learned],
    }
    let text = toml::to_string(&File { learned }).expect("laws can be written");
    format!(
        "# What the learning half gave, by `cargo run -p cyclewise-sim --example learn_laws`; do not edit. README.md beside this file\n\
         # has the rule. `folds` are the laws without one machine each.\n\n{text}"
    )
}
