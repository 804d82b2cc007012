//! Searches the laws of a family of machines, law by law.
//!
//! # Method
//! Coordinate descent: all values of one law are tried with the others as they are, and the best is taken; then the next law, until a
//! round over all laws changes nothing. It begins from several choices, because it ends in a local minimum.
//!
//! A law that is not the simplest must earn its place: each costs some of the score. So of laws that predict about as well, the
//! simplest are taken.
//!
//! Errors are of one machine each, and are kept: the search without a machine, or without some of its rows, needs few new ones.

use super::laws::{ARBITER, Choice, LAWS, Laws, PROBE, Space};
use rayon::prelude::*;
use std::collections::{BTreeMap, HashMap};

/// The errors of laws on a machine of type `M`, by the rows `K` that are judged together.
pub(crate) struct Scores<'a, M, K> {
    machines: &'a [M],
    pub(crate) space: &'a Space,
    errors: fn(&M, &Laws) -> BTreeMap<K, f64>,
    /// By how much each law beyond the simplest must reduce the score, which is a mean of logarithms.
    law: f64,
    starts: Vec<Choice>,
    known: HashMap<(usize, Choice), BTreeMap<K, f64>>,
}

/// Which rows count.
type Counts<'a, K> = &'a dyn Fn(&K) -> bool;

impl<'a, M: Sync, K: Ord + Copy + Send> Scores<'a, M, K> {
    pub(crate) fn new(
        machines: &'a [M],
        space: &'a Space,
        law: f64,
        errors: fn(&M, &Laws) -> BTreeMap<K, f64>,
    ) -> Self {
        Self {
            machines,
            space,
            errors,
            law,
            starts: starts(space),
            known: HashMap::new(),
        }
    }

    /// Begins with another value of a law too, which the others then fit better.
    pub(crate) fn start_with(&mut self, law: usize, value: usize) {
        let more: Vec<Choice> = self.starts.iter().map(|start| with(*start, law, value)).collect();
        self.starts.extend(more);
        self.starts.sort_unstable();
        self.starts.dedup();
    }

    /// The best laws for some of the machines, by number, and some of their rows.
    pub(crate) fn best(&mut self, members: &[usize], counts: Counts<K>) -> Choice {
        let starts = self.starts.clone().into_iter();
        let ends = starts.map(|start| self.descend(start, members, counts));
        let best = ends.min_by(|a, b| a.1.total_cmp(&b.1));
        best.expect("there are starts").0
    }

    /// Whether the rows tell a law: every other value of it is worse than the chosen one by more than a law must be.
    pub(crate) fn tells(&mut self, choice: Choice, law: usize, members: &[usize]) -> bool {
        let values = self.space.sizes()[law];
        let of = |value: &usize| with(choice, law, *value);
        let others: Vec<Choice> = (0..values)
            .filter(|value| *value != choice[law])
            .map(|v| of(&v))
            .collect();
        let chosen = self.of(&[choice], members, &|_| true)[0];
        let scores = self.of(&others, members, &|_| true);
        values > 1 && scores.iter().all(|score| *score > chosen + self.law)
    }

    /// The end of the descent from a choice, and its score.
    fn descend(&mut self, start: Choice, members: &[usize], counts: Counts<K>) -> (Choice, f64) {
        let mut here = start;
        let mut score = self.of(&[here], members, counts)[0];
        loop {
            let before = score;
            for law in 0..LAWS {
                let values = self.space.sizes()[law];
                let tried: Vec<Choice> = (0..values).map(|value| with(here, law, value)).collect();
                let scores = self.of(&tried, members, counts);
                for (choice, of) in tried.into_iter().zip(scores) {
                    if of < score {
                        (here, score) = (choice, of);
                    }
                }
            }
            if score >= before {
                return (here, score);
            }
        }
    }

    /// The score of each choice for these machines, and the cost of its laws.
    fn of(&mut self, choices: &[Choice], members: &[usize], counts: Counts<K>) -> Vec<f64> {
        self.compute(choices, members);
        let score = |choice: &Choice| {
            let mut groups: BTreeMap<K, Vec<f64>> = BTreeMap::new();
            let all = members.iter().flat_map(|machine| &self.known[&(*machine, *choice)]);
            for (group, error) in all.filter(|(group, _)| counts(group)) {
                groups.entry(*group).or_default().push(*error);
            }
            let means: Vec<f64> = groups.values().map(|errors| mean(errors)).collect();
            let laws = choice.iter().filter(|value| **value > 0).count() as f64;
            mean(&means) + self.law * laws
        };
        choices.iter().map(score).collect()
    }

    /// Computes the errors that are not known, on all CPUs: a machine with many threads takes seconds.
    fn compute(&mut self, choices: &[Choice], members: &[usize]) {
        let all = choices.iter().flat_map(|choice| members.iter().map(|m| (*m, *choice)));
        let due: Vec<(usize, Choice)> = all.filter(|key| !self.known.contains_key(key)).collect();
        let (machines, space, errors) = (self.machines, self.space, self.errors);
        let compute = |key: (usize, Choice)| (key, errors(&machines[key.0], &space.at(key.1)));
        let found: Vec<_> = due.into_par_iter().with_max_len(1).map(compute).collect();
        self.known.extend(found);
    }
}

pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// A choice with another value of one law.
fn with(mut choice: Choice, law: usize, value: usize) -> Choice {
    choice[law] = value;
    choice
}

/// Where descents begin: the simplest laws, with the first value of each third of the probes, and each of the first two arbiters.
fn starts(space: &Space) -> Vec<Choice> {
    let sizes = space.sizes();
    let mut all = Vec::new();
    for arbiter in 0..sizes[ARBITER].min(2) {
        for probe in [0, sizes[PROBE] / 3, 2 * sizes[PROBE] / 3] {
            all.push(with(with([0; LAWS], ARBITER, arbiter), PROBE, probe));
        }
    }
    all
}
