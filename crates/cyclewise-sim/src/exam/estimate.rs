//! A figure's mean over seeds with its interval, from each start.

use crate::{Job, Machine, Outcome, Start, simulate};

/// Seeds of each figure: 1 to 5.
pub(super) const SEEDS: u64 = 5;

/// The 97.5 % quantile of Student's distribution with four degrees of freedom.
const T: f64 = 2.776;

/// Two starts lead to two regimes if their intervals are apart, and their means differ by more than this share.
const SAME_REGIME: f64 = 0.1;

/// A figure over seeds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// How the threads began.
    pub start: Start,
    /// The mean over the seeds.
    pub mean: f64,
    /// Its 95 % interval (Student).
    pub interval: (f64, f64),
    /// Whether every run was stationary.
    pub stationary: bool,
}

impl Estimate {
    /// Of one value for each seed.
    pub(super) fn of(start: Start, values: &[f64], stationary: bool) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "a few seeds")]
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let half = T * (squares / (count - 1.0) / count).sqrt();
        Self {
            start,
            mean,
            interval: (mean - half, mean + half),
            stationary,
        }
    }

    /// Whether the whole interval is in a range.
    #[must_use]
    pub fn is_within(&self, (least, most): (f64, f64)) -> bool {
        self.interval.0 >= least && self.interval.1 <= most
    }

    fn is_like(&self, other: &Self) -> bool {
        let apart = self.interval.1 < other.interval.0 || other.interval.1 < self.interval.0;
        !apart || (self.mean / other.mean - 1.0).abs() <= SAME_REGIME
    }
}

/// The outcomes of a job, one for each seed.
fn outcomes(machine: &Machine, job: &Job) -> Vec<Outcome> {
    let run = |seed| {
        let job = Job { seed, ..job.clone() };
        simulate(machine, &job).unwrap_or_else(|error| panic!("{} on {}: {error}", job.workload, machine.name))
    };
    // Each run is independent of the others, and so is its result of how many there are at a time.
    std::thread::scope(|scope| {
        let runs: Vec<_> = (1..=SEEDS).map(|seed| scope.spawn(move || run(seed))).collect();
        let joined = runs.into_iter().map(|run| run.join());
        joined
            .map(|outcome| outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

/// A figure of several jobs, by seed. Both starts are tried; they give one estimate if they lead to one regime, that of the scattered
/// start.
pub(super) fn estimates(machine: &Machine, jobs: &[Job], figure: impl Fn(&[&Outcome]) -> f64) -> Vec<Estimate> {
    let from = |start| {
        let runs = jobs.iter().map(|job| outcomes(machine, &Job { start, ..job.clone() }));
        let runs: Vec<Vec<Outcome>> = runs.collect();
        let by_seed = (0..SEEDS as usize).map(|seed| runs.iter().map(|outcomes| &outcomes[seed]).collect::<Vec<_>>());
        let values: Vec<f64> = by_seed.map(|outcomes| figure(&outcomes)).collect();
        let stationary = runs.iter().flatten().all(|outcome| outcome.stationary != Some(false));
        Estimate::of(start, &values, stationary)
    };
    let (scattered, crowd) = (from(Start::Scattered), from(Start::Crowd));
    if scattered.is_like(&crowd) {
        vec![scattered]
    } else {
        vec![scattered, crowd]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[f64]) -> Estimate {
        Estimate::of(Start::Scattered, values, true)
    }

    #[test]
    fn the_interval_is_students() {
        let estimate = of(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        // The standard deviation is the root of 2.5, and of the mean the root of 0.5.
        assert!((estimate.mean - 3.0).abs() < 1e-12);
        assert!((estimate.interval.1 - 3.0 - 2.776 * 0.5_f64.sqrt()).abs() < 1e-12);
        assert_eq!(of(&[2.0; 5]).interval, (2.0, 2.0));
    }

    #[test]
    fn a_mean_inside_a_range_is_not_enough() {
        let wide = of(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        assert!(wide.is_within((0.0, 6.0)) && !wide.is_within((2.0, 4.0)));
        assert!(!of(&[f64::NAN; 5]).is_within((0.0, 6.0)));
    }

    #[test]
    fn regimes_are_apart_only_if_their_intervals_and_means_are() {
        let (low, near, high) = (of(&[1.0; 5]), of(&[1.05; 5]), of(&[2.0; 5]));
        assert!(low.is_like(&near) && !low.is_like(&high));
        assert!(of(&[0.5, 1.5, 2.5, 1.0, 3.0]).is_like(&high));
    }
}
