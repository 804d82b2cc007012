//! Figures of mails and papers, each compared with what the file of its machine gives: `data/figures.toml`.
//!
//! A machine's parameters are those of its file, and the same for all of its figures. A figure is computed from each of the seven runs of a
//! prediction. One that the machine was fitted to only shows that the laws permit it.

use crate::machine::Published;
use crate::predict::{Prediction, Range, predict};
use crate::stats::{exponent, median};
use crate::{Job, Machine, Outcome, Placement, Workload};
use rayon::prelude::*;
use serde::Deserialize;

/// How a figure was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// The machine was fitted to it.
    Fitted,
    /// The machine does not depend on it.
    Predicted,
}

impl Role {
    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fitted => "fitted",
            Self::Predicted => "predicted",
        }
    }
}

/// What is computed from the outcomes of a figure's jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// Retries per success of the only job.
    Retries,
    /// Throughput of the first job relative to that of the second.
    Gain,
    /// The best throughput relative to the worst.
    Spread,
    /// The power of the threads with which the time of one thread's operation grows.
    Exponent,
    /// The median error of the contended rows in the machine's file; the jobs are those of the rows.
    Error,
}

impl Quantity {
    /// Its unit.
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Retries => "retries/op",
            Self::Gain | Self::Spread => "ratio",
            Self::Exponent => "exponent",
            Self::Error => "share",
        }
    }

    /// Its value; `published`: what the jobs' times should be, of an error.
    fn of(self, outcomes: &[&Outcome], published: &[f64]) -> f64 {
        let rates = || outcomes.iter().map(|outcome| outcome.ops_per_s);
        match self {
            Self::Retries => outcomes[0].retries_per_success,
            Self::Gain => outcomes[0].ops_per_s / outcomes[1].ops_per_s,
            Self::Spread => rates().fold(0.0, f64::max) / rates().fold(f64::INFINITY, f64::min),
            Self::Exponent => {
                let time = |outcome: &&Outcome| {
                    let threads = f64::from(outcome.threads);
                    (threads, outcome.ns_per_op * threads)
                };
                exponent(&outcomes.iter().map(time).collect::<Vec<_>>())
            }
            Self::Error => {
                let both = outcomes.iter().zip(published);
                let errors = both.map(|(outcome, published)| (outcome.ns_per_op / published - 1.0).abs());
                median(&errors.collect::<Vec<_>>())
            }
        }
    }
}

/// A job of a figure; what is not given is as in [`Job::new`].
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct FigureJob {
    workload: Workload,
    threads: u32,
    #[serde(default)]
    placement: Placement,
    retry_limit: Option<u32>,
}

/// A published figure, and the range in which the simulated one should be.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// The preset.
    pub machine: String,
    /// The figure, in words.
    pub what: String,
    /// What it is of its jobs.
    #[serde(rename = "is")]
    pub quantity: Quantity,
    #[serde(default)]
    jobs: Vec<FigureJob>,
    /// The range.
    pub range: (f64, f64),
    /// Whether the machine was fitted to it.
    pub role: Role,
    /// The publication.
    pub source: String,
    /// Why the simulated figure is not in the range, or depends on how the threads begin; empty if neither.
    #[serde(default)]
    pub why: String,
}

/// A figure with its simulated values.
#[derive(Clone, Debug, PartialEq)]
pub struct FigureResult {
    /// The figure.
    pub figure: Figure,
    /// Of all runs, and of each of two regimes.
    pub simulated: Range,
    /// The value in the middle.
    pub middle: f64,
    /// Whether every run was stationary.
    pub stationary: bool,
}

impl FigureResult {
    /// Whether all of the simulated values are in the range. Of two regimes, the published test was in one, and the other need not be in the
    /// range.
    pub fn is_met(&self) -> bool {
        let (least, most) = self.figure.range;
        let is_within = |[low, high]: &[f64; 2]| *low >= least && *high <= most;
        is_within(&self.simulated.ns) || self.simulated.regimes.iter().any(is_within)
    }

    /// Whether it is missed or has two regimes.
    pub fn needs_a_reason(&self) -> bool {
        !self.is_met() || !self.simulated.regimes.is_empty()
    }
}

/// All figures.
pub fn figures() -> Vec<Figure> {
    #[derive(Deserialize)]
    struct File {
        figure: Vec<Figure>,
    }
    let file: File = toml::from_str(include_str!("../../data/figures.toml")).expect("a test reads the file");
    file.figure
}

impl Figure {
    /// Predicts its jobs. The same program gives the same result on every host.
    pub fn simulate(self) -> FigureResult {
        let machine = self.preset();
        self.simulate_on(&machine)
    }

    /// Its machine.
    pub(super) fn preset(&self) -> Machine {
        let preset = Machine::preset(&self.machine).expect("a preset of this crate");
        preset.machine().expect("a test reads every preset")
    }

    pub(super) fn simulate_on(self, machine: &Machine) -> FigureResult {
        let (jobs, published) = match self.quantity {
            Quantity::Error => rows(machine),
            _ => (self.jobs.iter().map(FigureJob::job).collect(), Vec::new()),
        };
        let one =
            |job: &Job| predict(machine, job).unwrap_or_else(|e| panic!("{} on {}: {e}", job.workload, machine.name));
        let predictions: Vec<Prediction> = jobs.par_iter().with_max_len(1).map(one).collect();
        let value = |run: usize| {
            let outcomes: Vec<&Outcome> = predictions.iter().map(|prediction| &prediction.runs[run]).collect();
            self.quantity.of(&outcomes, &published)
        };
        let mut values: Vec<f64> = (0..predictions[0].runs.len()).map(value).collect();
        values.sort_by(f64::total_cmp);
        let mut runs = predictions.iter().flat_map(|prediction| &prediction.runs);
        FigureResult {
            middle: values[values.len() / 2],
            stationary: runs.all(|run| run.stationary != Some(false)),
            simulated: Range::of(values),
            figure: self,
        }
    }

    /// The most threads of its jobs; 0 if those are the machine's rows.
    #[cfg(test)]
    pub(super) fn most_threads(&self) -> u32 {
        self.jobs.iter().map(|job| job.threads).max().unwrap_or(0)
    }
}

impl FigureJob {
    fn job(&self) -> Job {
        Job {
            placement: self.placement,
            retry_limit: self.retry_limit,
            ..Job::new(self.workload, self.threads)
        }
    }
}

/// The jobs of a machine's contended rows, and their times.
fn rows(machine: &Machine) -> (Vec<Job>, Vec<f64>) {
    let contended = machine
        .published
        .iter()
        .filter(|row| row.threads > 1 && row.unit == "ns/op");
    let job = |row: &Published| {
        let workload = row.workload.parse().expect("a machine file's workloads are checked");
        let mut job = Job::new(workload, row.threads);
        job.relax = row.relax;
        (job, row.value)
    };
    contended.map(job).unzip()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_met_by_all_runs_or_all_of_one_regime() {
        let is_met = |values: [f64; 3]| {
            let result = FigureResult {
                figure: Figure {
                    range: (1.0, 2.0),
                    ..figures().remove(3)
                },
                simulated: Range::of(values.to_vec()),
                middle: values[1],
                stationary: true,
            };
            (result.is_met(), result.needs_a_reason())
        };
        assert_eq!(is_met([1.0, 1.2, 1.4]), (true, false));
        assert_eq!(is_met([1.9, 2.0, 2.01]), (false, true));
        assert_eq!(is_met([f64::NAN; 3]), (false, true));
        // One in the range is enough, and the other is explained.
        assert_eq!(is_met([1.4, 1.5, 3.0]), (true, true));
        assert_eq!(is_met([0.4, 0.5, 3.0]), (false, true));
    }

    #[test]
    fn each_quantity_is_what_it_says() {
        let machine = Machine::preset("thunderx2").unwrap().machine().unwrap();
        let plain = crate::simulate(&machine, &Job::new(Workload::FetchAdd, 2)).unwrap();
        let with = |threads, ops_per_s, retries_per_success| Outcome {
            threads,
            ops_per_s,
            ns_per_op: 1e9 / ops_per_s,
            retries_per_success,
            ..plain.clone()
        };
        // Elapsed times of 2, 8 and 1 ns; of one thread's operation 4, 32 and 8 ns.
        let [a, b, c] = [with(2, 5e8, 7.0), with(4, 1.25e8, 0.0), with(8, 1e9, 0.0)];
        let value = |quantity: Quantity| quantity.of(&[&a, &b, &c], &[4.0, 4.0, 1.0]);
        let near = |quantity, expected: f64| (value(quantity) - expected).abs() < 1e-9;
        assert!(near(Quantity::Retries, 7.0) && near(Quantity::Gain, 4.0) && near(Quantity::Spread, 8.0));
        // Errors of 50, 100 and 0 %.
        assert!(near(Quantity::Error, 0.5));
        // Of the logarithms 2, 5, 3 over 1, 2, 3.
        assert!(near(Quantity::Exponent, 0.5));
    }

    #[test]
    fn every_row_of_a_fitted_machine_has_its_job() {
        let machine = Machine::preset("graviton2").unwrap().machine().unwrap();
        let (jobs, ns) = rows(&machine);
        assert_eq!((jobs.len(), ns.len()), (16, 16));
        assert!(jobs.iter().all(|job| job.threads > 1));
    }
}
