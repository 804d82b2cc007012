//! Learns the laws of a class of machines from the learning half.
//!
//! A candidate's score for a machine is the mean over its kinds of the median error of its contended rows, as a logarithm; for a class
//! it is the mean over its machines, so that a machine with many rows does not outweigh one with few. The first candidate with the
//! least score is taken. For every machine of the class the same is done without it (leave one machine out): what such laws predict for
//! the machine is held out, and gives the class its error bands.

use super::band::{self, Band, HeldOut};
use super::build::predict;
use super::data::{PublishedMachine, PublishedRow};
use super::laws::{Class, Laws};
use super::split::{Half, half};
use super::{Kind, data};
use crate::stats::median;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

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
    /// The band of a kind; `None` if too few machines have rows of it.
    #[must_use]
    pub fn band(&self, kind: Kind) -> Option<Band> {
        self.bands.iter().find(|band| band.kind == kind).copied()
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
pub fn learn(learners: &[PublishedMachine], candidates: &[Laws]) -> Vec<Learned> {
    let scores = scores(learners, candidates);
    let best = |members: &[usize]| {
        let total = |candidate: usize| members.iter().map(|m| scores[*m][candidate]).sum::<f64>();
        let order = |a: &usize, b: &usize| total(*a).total_cmp(&total(*b));
        candidates[(0..candidates.len()).min_by(order).expect("there are candidates")]
    };
    let mut all = Vec::new();
    for class in classes(learners) {
        let members: Vec<usize> = (0..learners.len()).filter(|m| class.has(&learners[*m])).collect();
        let without = |left_out: usize| -> Vec<usize> { members.iter().copied().filter(|m| *m != left_out).collect() };
        let fold = |m: &usize| Fold {
            without: learners[*m].name.clone(),
            laws: best(&without(*m)),
        };
        let folds: Vec<Fold> = members.iter().map(fold).collect();
        all.push(Learned {
            class: class.name().to_owned(),
            laws: best(&members),
            bands: bands_of(&held_out(learners, &folds)),
            folds,
        });
    }
    all
}

/// The score of each candidate for each machine, on all cores: a machine with many threads takes minutes.
fn scores(learners: &[PublishedMachine], candidates: &[Laws]) -> Vec<Vec<f64>> {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let part = candidates.len().div_ceil(cores).max(1);
    std::thread::scope(|scope| {
        let parts: Vec<_> = candidates
            .chunks(part)
            .map(|laws| scope.spawn(move || scores_of(learners, laws)))
            .collect();
        let mut all = vec![Vec::new(); learners.len()];
        for part in parts {
            let scores = part.join().expect("a score has no panic");
            for (machine, more) in all.iter_mut().zip(scores) {
                machine.extend(more);
            }
        }
        all
    })
}

fn scores_of(learners: &[PublishedMachine], candidates: &[Laws]) -> Vec<Vec<f64>> {
    let of = |machine| candidates.iter().map(|laws| score(machine, laws)).collect();
    learners.iter().map(of).collect()
}

/// A contended row of a machine that the laws were learned without.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeldOutRow {
    /// The machine's number.
    pub machine: usize,
    /// Its kind.
    pub kind: Kind,
    /// The row.
    pub row: PublishedRow,
    /// The prediction.
    pub predicted: f64,
}

impl HeldOutRow {
    fn ratio(&self) -> HeldOut {
        HeldOut {
            machine: self.machine,
            kind: self.kind,
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
        for (kind, row) in learners[machine].contended() {
            // A row without progress counts as never done.
            let predicted = predict(&learners[machine], &fold.laws, &row).unwrap_or(NEVER_NS);
            all.push(HeldOutRow {
                machine,
                kind,
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

/// How badly laws predict a machine: the mean over kinds of the median error, as a logarithm.
fn score(machine: &PublishedMachine, laws: &Laws) -> f64 {
    /// What a row without progress counts: a factor of 20.
    const STUCK: f64 = 3.0;
    let mut medians = Vec::new();
    for kind in Kind::ALL {
        let rows = machine.contended().filter(|(of, _)| of == kind);
        let error = |row| predict(machine, laws, &row).map_or(STUCK, |ns| (ns / row.ns).ln().abs());
        let errors: Vec<f64> = rows.map(|(_, row)| error(row)).collect();
        if !errors.is_empty() {
            medians.push(median(&errors));
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "at most three kinds")]
    let count = medians.len().max(1) as f64;
    medians.iter().sum::<f64>() / count
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
