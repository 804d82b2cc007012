//! Searches the laws of a family of machines, law by law.
//!
//! # Method
//! Coordinate descent: all values of one law are tried with the others as they are, and the best is taken; then the next law, until a
//! round over all laws changes nothing. It begins from several choices, because it ends in a local minimum.
//!
//! A law that is not the simplest must earn its place: each costs [`LAW`] of the score. So of laws that predict about as well, the
//! simplest are taken.
//!
//! Errors are of one machine each, and are kept: the search without a machine needs few new ones.

use super::Group;
use super::data::PublishedMachine;
use super::laws::{ARBITER, Choice, LAWS, Laws, PROBE, Space};
use crate::stats::mean;
use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

/// By how much each law beyond the simplest must reduce the score, a mean of logarithms: about half a percent of the time.
const LAW: f64 = 0.005;

/// The errors of laws on a machine.
type Errors = BTreeMap<Group, f64>;

/// The errors that were computed.
pub(super) struct Scores<'a> {
    learners: &'a [PublishedMachine],
    space: &'a Space,
    errors: fn(&PublishedMachine, &Laws) -> Errors,
    known: HashMap<(usize, Choice), Errors>,
}

impl<'a> Scores<'a> {
    pub(super) fn new(
        learners: &'a [PublishedMachine],
        space: &'a Space,
        errors: fn(&PublishedMachine, &Laws) -> Errors,
    ) -> Self {
        Self {
            learners,
            space,
            errors,
            known: HashMap::new(),
        }
    }

    /// The best laws for some of the machines, by number.
    pub(super) fn best(&mut self, members: &[usize]) -> Laws {
        let starts = starts(self.space).into_iter();
        let ends = starts.map(|start| self.descend(start, members));
        let best = ends.min_by(|a, b| a.1.total_cmp(&b.1));
        self.space.at(best.expect("there are starts").0)
    }

    /// The end of the descent from a choice, and its score.
    fn descend(&mut self, start: Choice, members: &[usize]) -> (Choice, f64) {
        let mut here = start;
        let mut score = self.of(&[here], members)[0];
        loop {
            let before = score;
            for law in 0..LAWS {
                let values = self.space.sizes()[law];
                let tried: Vec<Choice> = (0..values).map(|value| with(here, law, value)).collect();
                let scores = self.of(&tried, members);
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
    fn of(&mut self, choices: &[Choice], members: &[usize]) -> Vec<f64> {
        self.compute(choices, members);
        let score = |choice: &Choice| {
            let mut groups: BTreeMap<Group, Vec<f64>> = BTreeMap::new();
            for (group, error) in members.iter().flat_map(|machine| &self.known[&(*machine, *choice)]) {
                groups.entry(*group).or_default().push(*error);
            }
            let means: Vec<f64> = groups.values().map(|errors| mean(errors)).collect();
            #[expect(clippy::cast_precision_loss, reason = "a few laws")]
            let laws = choice.iter().filter(|value| **value > 0).count() as f64;
            mean(&means) + LAW * laws
        };
        choices.iter().map(score).collect()
    }

    /// Computes the errors that are not known, on all CPUs: a machine with many threads takes seconds.
    fn compute(&mut self, choices: &[Choice], members: &[usize]) {
        let all = choices.iter().flat_map(|choice| members.iter().map(|m| (*m, *choice)));
        let due: Vec<(usize, Choice)> = all.filter(|key| !self.known.contains_key(key)).collect();
        let cpus = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        let (learners, space, errors) = (self.learners, self.space, self.errors);
        std::thread::scope(|scope| {
            for _ in 0..cpus.min(due.len()) {
                scope.spawn(|| {
                    // Relaxed: it only hands out numbers.
                    while let Some(key) = due.get(next.fetch_add(1, Relaxed)) {
                        let of = errors(&learners[key.0], &space.at(key.1));
                        found.lock().expect("no simulation panics").push((*key, of));
                    }
                });
            }
        });
        self.known.extend(found.into_inner().expect("no simulation panics"));
    }
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
