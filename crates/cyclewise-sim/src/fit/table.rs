//! What each candidate makes of each row, simulated once.
//!
//! The search has short runs: hundreds of candidates are ranked, and what a longer run would add is the same for all of them. What is
//! reported and what bands come from has the length that every other prediction has ([`Table::predicted`]).

use super::candidates::Candidate;
use super::measured::MeasuredRow;
use crate::{Job, Length, Machine, simulate};
use std::collections::BTreeMap;

/// The spread between two runs of a row, as a logarithm: the unit of badness.
const SPREAD: f64 = 0.1;

/// The scales of transfer times to try, from the middle outwards.
pub(super) const SCALES: [f64; 12] = [1.0, 0.95, 1.05, 0.9, 1.1, 0.85, 1.15, 0.8, 1.2, 0.7, 1.3, 1.5];

/// A candidate and a scale, by their numbers.
pub(super) type Tried = (usize, usize);

/// The rows and the candidates, with the simulated times so far.
pub(super) struct Table<'a> {
    base: &'a Machine,
    pub(super) rows: &'a [MeasuredRow],
    pub(super) candidates: Vec<Candidate>,
    simulated: BTreeMap<Tried, Vec<f64>>,
}

impl<'a> Table<'a> {
    /// Simulates all candidates with unscaled transfers, on all cores.
    pub(super) fn new(base: &'a Machine, rows: &'a [MeasuredRow], candidates: Vec<Candidate>) -> Self {
        let mut table = Self {
            base,
            rows,
            candidates,
            simulated: BTreeMap::new(),
        };
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        let all = table.candidates.len();
        let share = |worker: usize| -> Vec<_> {
            let own = (worker..all).step_by(workers);
            own.map(|candidate| ((candidate, 0), table.outcomes((candidate, 0))))
                .collect()
        };
        let simulated = std::thread::scope(|scope| {
            let others: Vec<_> = (1..workers).map(|worker| scope.spawn(move || share(worker))).collect();
            let mut simulated = share(0);
            for (worker, other) in (1..).zip(others) {
                // A thread that could not finish is done again here.
                simulated.extend(other.join().unwrap_or_else(|_| share(worker)));
            }
            simulated
        });
        table.simulated.extend(simulated);
        table
    }

    /// The machine of a candidate at a scale.
    pub(super) fn machine(&self, (candidate, scale): Tried) -> Machine {
        let mut machine = self.candidates[candidate].on(self.base);
        let exchange_ns = f64::from(self.base.cost.cas_cycles) / self.base.ghz;
        machine.latency = self.base.latency.scaled(exchange_ns, SCALES[scale]);
        machine
    }

    /// The simulated ns/op of a row.
    pub(super) fn ns(&mut self, tried: Tried, row: usize) -> f64 {
        if !self.simulated.contains_key(&tried) {
            let outcomes = self.outcomes(tried);
            self.simulated.insert(tried, outcomes);
        }
        self.simulated[&tried][row]
    }

    /// The badness of a candidate on some rows.
    pub(super) fn badness(&mut self, tried: Tried, rows: &[usize]) -> f64 {
        let error = |row: &usize| self.error(tried, *row).powi(2);
        let of_rows: f64 = rows.iter().map(error).sum();
        of_rows + (SCALES[tried.1].ln() / SPREAD).powi(2)
    }

    /// The logarithm of simulated by measured time, in units of the spread.
    pub(super) fn error(&mut self, tried: Tried, row: usize) -> f64 {
        (self.ns(tried, row) / self.rows[row].ns_per_op).ln() / SPREAD
    }

    /// The number of simulated jobs.
    pub(super) fn jobs(&self) -> u32 {
        u32::try_from(self.simulated.len() * self.rows.len()).unwrap_or(u32::MAX)
    }

    /// The ns/op of a row that a candidate predicts, in a run of the usual length.
    pub(super) fn predicted(&self, tried: Tried, row: usize) -> f64 {
        outcome(&self.machine(tried), &self.rows[row].job())
    }

    fn outcomes(&self, tried: Tried) -> Vec<f64> {
        let machine = self.machine(tried);
        self.rows
            .iter()
            .map(|row| outcome(&machine, &short(row.job())))
            .collect()
    }
}

/// Operations of a thread before and in the counted part of a short run, and the least of all threads.
const PER_THREAD: u64 = 10;
const LEAST: u64 = 1_000;

fn short(mut job: Job) -> Job {
    let all = PER_THREAD * u64::from(job.threads);
    job.length = Length::Operations {
        warm_up: all,
        measured: LEAST.max(all),
    };
    job
}

/// The simulated ns/op of a job; a very long time if there is no progress.
fn outcome(machine: &Machine, job: &Job) -> f64 {
    const NEVER: f64 = 1e9;
    simulate(machine, job).map_or(NEVER, |outcome| outcome.ns_per_op)
}
