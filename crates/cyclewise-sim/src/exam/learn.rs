//! Learns the laws of a class of machines from the learning half.
//!
//! The score of laws for a machine is the mean over its groups of rows of the mean error of the group's contended rows, as a logarithm;
//! for a class it is the mean over its machines, so that a machine with many rows does not outweigh one with few. `search.rs` says how
//! the laws with the least score are found. For every machine of the class the same is done without it (leave one machine out): what such
//! laws predict for the machine is held out, and gives the class its error bands.

use super::band::{self, Band, HeldOut};
use super::build::predict;
use super::data::{PublishedMachine, PublishedRow};
use super::laws::{Class, Laws, Space};
use super::search::Scores;
use super::split::{Half, half};
use super::{Group, data};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A class needs this many machines to learn from, so that one can be held out.
pub const LEAST_MACHINES: usize = 2;

/// What a class learned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Learned {
    /// The class.
    pub class: String,
    /// Laws from all of its machines.
    pub laws: Laws,
    /// Laws without one machine each.
    pub folds: Vec<Fold>,
    /// What those predict for that machine, as bands.
    pub bands: Vec<Band>,
}

impl Learned {
    /// The band of a group; `None` if too few machines have rows of it.
    #[must_use]
    pub fn band(&self, group: Group) -> Option<Band> {
        self.bands.iter().find(|band| band.group == group).copied()
    }
}

/// Laws from a class without one machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fold {
    /// The machine that was left out.
    pub without: String,
    /// The laws of the others.
    pub laws: Laws,
}

/// The machines to learn from.
#[must_use]
pub fn learners() -> Vec<PublishedMachine> {
    let machines = data::machines().into_iter();
    machines.filter(|machine| half(&machine.name) == Half::Learn).collect()
}

/// The classes with enough machines, families first.
#[must_use]
pub fn classes(learners: &[PublishedMachine]) -> Vec<Class> {
    let families: BTreeSet<_> = learners.iter().map(|m| Class::Family(m.family.clone())).collect();
    let isas: BTreeSet<_> = learners.iter().map(|m| Class::Isa(m.isa.clone())).collect();
    let all = families.into_iter().chain(isas);
    all.filter(|class| learners.iter().filter(|m| class.has(m)).count() >= LEAST_MACHINES)
        .collect()
}

/// Learns the laws of every class.
#[must_use]
pub fn learn(learners: &[PublishedMachine], space: &Space) -> Vec<Learned> {
    let mut scores = Scores::new(learners, space, score);
    let mut all = Vec::new();
    for class in classes(learners) {
        let members: Vec<usize> = (0..learners.len()).filter(|m| class.has(&learners[*m])).collect();
        let laws = scores.best(&members);
        let mut folds = Vec::new();
        for left_out in &members {
            let others: Vec<usize> = members.iter().copied().filter(|m| m != left_out).collect();
            folds.push(Fold {
                without: learners[*left_out].name.clone(),
                laws: scores.best(&others),
            });
        }
        all.push(Learned {
            class: class.name().to_owned(),
            laws,
            bands: bands_of(&held_out(learners, &folds)),
            folds,
        });
    }
    all
}

/// A contended row of a machine that the laws were learned without.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeldOutRow {
    /// The machine's number.
    pub machine: usize,
    /// Its group.
    pub group: Group,
    /// The row.
    pub row: PublishedRow,
    /// The prediction.
    pub predicted: f64,
}

impl HeldOutRow {
    fn ratio(&self) -> HeldOut {
        HeldOut {
            machine: self.machine,
            group: self.group,
            ratio: self.row.ns / self.predicted,
        }
    }
}

/// What each fold predicts for the machine that it was learned without.
///
/// # Panics
/// If a fold is not of these machines.
#[must_use]
pub fn held_out(learners: &[PublishedMachine], folds: &[Fold]) -> Vec<HeldOutRow> {
    let mut all = Vec::new();
    for fold in folds {
        let named = |machine: &PublishedMachine| machine.name == fold.without;
        let machine = learners.iter().position(named).expect("a fold of these machines");
        for (group, row) in learners[machine].contended() {
            // A row without progress counts as never done.
            let predicted = predict(&learners[machine], &fold.laws, &row).unwrap_or(NEVER_NS);
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

/// The bands of held-out rows.
#[must_use]
pub fn bands_of(rows: &[HeldOutRow]) -> Vec<Band> {
    band::bands(&rows.iter().map(HeldOutRow::ratio).collect::<Vec<_>>())
}

/// The time of an operation that is never done.
const NEVER_NS: f64 = 1e9;

/// How badly laws predict a machine: the mean over groups of the mean error, as a logarithm.
fn score(machine: &PublishedMachine, laws: &Laws) -> f64 {
    /// The most that a row counts, also one without progress: a factor of 4.5.
    const MOST: f64 = 1.5;
    let mut groups: BTreeMap<Group, Vec<f64>> = BTreeMap::new();
    for (group, row) in machine.contended() {
        let error = predict(machine, laws, &row).map_or(MOST, |ns| (ns / row.ns).ln().abs());
        groups.entry(group).or_default().push(error.min(MOST));
    }
    let means: Vec<f64> = groups.values().map(|errors| mean(errors)).collect();
    mean(&means)
}

/// The mean; 0 of none.
fn mean(of: &[f64]) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a few rows")]
    let count = of.len().max(1) as f64;
    of.iter().sum::<f64>() / count
}

/// What was learned when `data/laws.toml` was written.
///
/// # Panics
/// Never: a test reads the file.
#[must_use]
pub fn learned() -> Vec<Learned> {
    #[derive(Deserialize)]
    struct File {
        learned: Vec<Learned>,
    }
    let file: File = toml::from_str(include_str!("../../data/laws.toml")).expect("a test reads the file");
    file.learned
}

/// The text of `data/laws.toml`.
///
/// # Panics
/// Never: laws are values that TOML can write.
#[must_use]
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
