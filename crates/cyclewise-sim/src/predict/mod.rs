//! Predictions: seven runs over what is not known of a machine, and the range of their results.
//!
//! # Method
//! Nobody knows a machine's clock and transfer times to the last percent, and a run knows only one seed and one way to begin. So a
//! prediction is made of runs that each have a seed of their own: three with the machine as described, one of them from a crowd at the first contended line, and
//! two each with the clock, and with the transfer times, 15 % up and down. The prediction is their range; all other figures are of the run in
//! the middle.
//!
//! Two runs that lie next to each other in order of their times, but farther apart than such changes of times explain, are in two regimes:
//! then the prediction is two ranges, and which of them a machine is in is not told.

use crate::machine::{Distance, Latency};
use crate::{Error, Job, Machine, Outcome, Start, run};
use serde::{Deserialize, Serialize};

/// By which factor the clock and transfers may be off, either way.
pub const UNSURE: f64 = 1.15;

/// A gap of more than this factor separates two regimes. Times move by at most 1.5 times what the inputs move by, in logarithms, which a test
/// holds; more than that is no change within one regime.
const GAP: f64 = 1.25;

/// How the runs of a prediction differ from the job as described: by the clock, the transfers, the seed and the start.
const RUNS: [(f64, f64, u64, Start); 7] = [
    (1.0, 1.0, 0, Start::Scattered),
    (1.0, 1.0, 1, Start::Crowd),
    (1.0, 1.0, 2, Start::Scattered),
    (UNSURE, 1.0, 3, Start::Scattered),
    (1.0 / UNSURE, 1.0, 4, Start::Scattered),
    (1.0, UNSURE, 5, Start::Scattered),
    (1.0, 1.0 / UNSURE, 6, Start::Scattered),
];

/// The results of a prediction's runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// One outcome for each run, in the order of the changes, the same for every job.
    pub runs: Vec<Outcome>,
}

/// The nanoseconds per operation between which a prediction is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Range {
    /// The least and the most.
    pub ns: [f64; 2],
    /// Of two regimes, the least and the most of each, the faster one first; empty where there is one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub regimes: Vec<[f64; 2]>,
}

/// Simulates a job for all that may be true of the machine.
///
/// # Errors
/// As [`simulate`](crate::simulate), if a run has none.
pub fn predict(machine: &Machine, job: &Job) -> Result<Prediction, Error> {
    predict_by(&run::run, machine, job)
}

fn predict_by(
    run: &dyn Fn(&Machine, &Job) -> Result<Outcome, Error>,
    machine: &Machine,
    job: &Job,
) -> Result<Prediction, Error> {
    let one = |(clock, transfers, seed, start): &(f64, f64, u64, Start)| {
        let job = Job {
            seed: job.seed.wrapping_add(*seed),
            start: *start,
            ..job.clone()
        };
        run(&machine.with_times(*clock, *transfers), &job)
    };
    let runs = RUNS.iter().map(one).collect::<Result<_, _>>()?;
    Ok(Prediction { runs })
}

impl Prediction {
    /// The run in the middle.
    pub fn middle(&self) -> &Outcome {
        let mut sorted: Vec<&Outcome> = self.runs.iter().collect();
        sorted.sort_by(|a, b| a.ns_per_op.total_cmp(&b.ns_per_op));
        sorted[sorted.len() / 2]
    }

    /// Between which times all of them are.
    pub fn range(&self) -> Range {
        Range::of(self.runs.iter().map(|run| run.ns_per_op).collect())
    }
}

impl Range {
    /// The range of some values, of which there is one at least.
    pub(crate) fn of(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        let ends = |values: &[f64]| [values[0], values[values.len() - 1]];
        let gap = |at: &usize| values[*at] / values[*at - 1];
        let widest = (1..values.len()).max_by(|a, b| gap(a).total_cmp(&gap(b)));
        let regimes = match widest.filter(|at| gap(at) > GAP) {
            Some(at) => vec![ends(&values[..at]), ends(&values[at..])],
            None => Vec::new(),
        };
        Self {
            ns: ends(&values),
            regimes,
        }
    }
}

impl Machine {
    /// The same machine with another clock and other transfer times; a transfer keeps its time where only the clock changes.
    pub fn with_times(&self, clock: f64, transfers: f64) -> Self {
        let mut machine = self.clone();
        machine.ghz *= clock;
        let exchange = f64::from(machine.cost.cas_cycles) / machine.ghz;
        let moved = |given: Option<f64>, distance| given.map(|_| self.transfer_ns(distance) * transfers + exchange);
        machine.latency = Latency {
            hit_ns: self.latency.hit_ns / clock,
            spread: self.latency.spread,
            sibling_ns: moved(self.latency.sibling_ns, Distance::Sibling),
            cluster_ns: moved(self.latency.cluster_ns, Distance::Cluster),
            socket_ns: moved(self.latency.socket_ns, Distance::Socket),
            remote_ns: moved(self.latency.remote_ns, Distance::Remote),
        };
        machine
    }
}

#[cfg(test)]
mod tests;
