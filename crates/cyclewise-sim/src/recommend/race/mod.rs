//! Compares candidates: short runs of all, then long runs of those that may be the best.

use super::candidate::Candidate;
use super::{Choice, Doubt, Rival, Worst};
use crate::band::Band;
use crate::{Outcome, Workload};
use cyclewise_bench::record::Verdict;
use cyclewise_bench::stats;

/// Rates closer than this share are alike, whatever the seeds and the model's errors on other rows say.
const ALIKE: f64 = 0.05;

/// A candidate whose short run is slower than the best by more than this factor gets no long runs.
const FINALIST_FACTOR: f64 = 1.5;

/// A thread that waits for at least this share of a run is starved: the rest allows for a wait that began during the start.
const STARVED_SHARE: f64 = 0.9;

/// The confidence level of the intervals.
const LEVEL: f64 = 0.95;

/// The result of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunResult {
    /// Operations per second.
    pub(super) rate: f64,
    /// Jain's index of the threads' shares.
    pub(super) jain: f64,
    /// Whether a thread starved for the whole run.
    pub(super) starved: bool,
}

impl RunResult {
    pub(super) fn of(outcome: &Outcome) -> Self {
        Self {
            rate: outcome.ops_per_s,
            jain: outcome.jain,
            starved: outcome.longest_wait_ns >= STARVED_SHARE * outcome.elapsed_ns,
        }
    }
}

/// A candidate's long runs by seed; `None` if it made no progress.
pub(super) struct CandidateRuns {
    pub(super) candidate: Candidate,
    pub(super) runs: Option<Vec<RunResult>>,
}

impl CandidateRuns {
    fn starves(&self) -> bool {
        self.runs
            .as_ref()
            .is_some_and(|runs| runs.iter().any(|run| run.starved))
    }
}

/// The candidates of one kind on one thread count, and their results so far.
pub(super) struct Race {
    pub(super) kind: &'static str,
    pub(super) threads: u32,
    /// Rates of short runs with the first seed; `None` if the candidate made no progress.
    pub(super) short_rates: Vec<(Candidate, Option<f64>)>,
    /// Long runs of the candidates that may be the best.
    pub(super) long_runs: Vec<CandidateRuns>,
}

impl Race {
    /// The candidates that may be the best, and at least the two fastest. The others are slower by more than seeds or longer runs
    /// can change. Excludes candidates that starve a thread, unless all do.
    pub(super) fn finalists(&self) -> Vec<Candidate> {
        let starving = self.starving();
        let mut left: Vec<(Candidate, f64)> = self.progressing().filter(|(c, _)| !starving.contains(c)).collect();
        if left.is_empty() {
            left = self.progressing().collect();
        }
        let mut rates: Vec<f64> = left.iter().map(|(_, rate)| *rate).collect();
        rates.sort_by(|a, b| b.total_cmp(a));
        let best = rates.first().copied().unwrap_or(f64::INFINITY);
        let second = rates.get(1).copied().unwrap_or(best);
        let enough = second.min(best / FINALIST_FACTOR);
        left.retain(|(_, rate)| *rate >= enough);
        left.into_iter().map(|(candidate, _)| candidate).collect()
    }

    /// The finalists that have no long run yet. A finalist that turns out to starve a thread is replaced by others.
    pub(super) fn finalists_without_long_run(&self) -> Vec<Candidate> {
        let mut left = self.finalists();
        left.retain(|c| self.long_runs.iter().all(|t| t.candidate != *c));
        left
    }

    /// The candidates that made progress in their short run, with their rates.
    fn progressing(&self) -> impl Iterator<Item = (Candidate, f64)> {
        self.short_rates.iter().filter_map(|(c, rate)| Some((*c, (*rate)?)))
    }

    fn starving(&self) -> Vec<Candidate> {
        let starving = self.long_runs.iter().filter(|t| t.starves());
        starving.map(|t| t.candidate).collect()
    }

    /// The best candidate that makes progress. `relative` has the model's error by workload where predictions are compared, `absolute` where
    /// they are not.
    pub(super) fn choose(
        &self,
        relative: &dyn Fn(Workload) -> Option<Band>,
        absolute: &dyn Fn(Workload) -> Option<Band>,
    ) -> Option<Choice> {
        let finalists = self.finalists();
        let runs: Vec<(Candidate, &[RunResult])> = self
            .long_runs
            .iter()
            .filter(|t| finalists.contains(&t.candidate))
            .filter_map(|t| Some((t.candidate, t.runs.as_deref()?)))
            .collect();
        // Geometric means, like the ratios, so that one lucky seed does not decide.
        let log_mean = |runs: &[RunResult]| runs.iter().map(|r| r.rate.ln()).sum::<f64>() / runs.len() as f64;
        let best = runs.iter().max_by(|a, b| log_mean(a.1).total_cmp(&log_mean(b.1)))?;
        let difference = |a: &(Candidate, &[RunResult]), b: &(Candidate, &[RunResult])| {
            let of_model = relative(a.0.workload)
                .zip(relative(b.0.workload))
                .map(|(a, b)| a.of_ratio(b));
            Difference::of(ratio(a.1, b.1), of_model)
        };
        let alike: Vec<_> = runs
            .iter()
            .filter(|run| difference(best, run).doubt().is_some())
            .collect();
        // The best itself qualifies, so there is one.
        let take = alike.iter().find(|run| ratio(best.1, run.1).0 <= 1.0 + ALIKE)?;
        let rival = |run: &(Candidate, &[RunResult])| {
            let difference = difference(take, run);
            let doubt = difference.doubt();
            Rival {
                candidate: run.0,
                ratio: difference.ratio,
                ratio_ci95: difference.seeds,
                model_interval: difference.model,
                verdict: match doubt {
                    Some(_) => Verdict::Undecided,
                    None if difference.ratio > 1.0 => Verdict::Faster,
                    None => Verdict::Slower,
                },
                doubt,
            }
        };
        let others = runs.iter().filter(|run| run.0 != take.0);
        let next = others.max_by(|a, b| log_mean(a.1).total_cmp(&log_mean(b.1))).map(rival);
        let measure = next
            .as_ref()
            .and_then(|next| next.doubt)
            .filter(|doubt| doubt.is_of_the_model());
        Some(Choice {
            kind: self.kind,
            threads: self.threads,
            take: take.0,
            ops_per_s: log_mean(take.1).exp(),
            band: absolute(take.0.workload),
            jain: take.1.iter().map(|r| r.jain).sum::<f64>() / take.1.len() as f64,
            next,
            worst: self.worst(take.0),
            alike: alike.iter().map(|run| run.0).collect(),
            measure: measure.map(|_| measured_by(self.kind)),
            stuck: self
                .short_rates
                .iter()
                .filter(|(_, rate)| rate.is_none())
                .map(|(c, _)| *c)
                .collect(),
            starving: self.starving(),
        })
    }

    /// The other candidate with the slowest short run, compared with the chosen one's.
    fn worst(&self, take: Candidate) -> Option<Worst> {
        let (_, mine) = self.progressing().find(|(c, _)| *c == take)?;
        let others = self.progressing().filter(|(c, _)| *c != take);
        let (candidate, rate) = others.min_by(|a, b| a.1.total_cmp(&b.1))?;
        Some(Worst {
            candidate,
            ratio: mine / rate,
        })
    }
}

/// Ratio of geometric means, and its confidence interval.
fn ratio(a: &[RunResult], b: &[RunResult]) -> (f64, [f64; 2]) {
    let logs = |runs: &[RunResult]| runs.iter().map(|r| r.rate.ln()).collect::<Vec<f64>>();
    match stats::welch(&logs(a), &logs(b)) {
        Some(test) => (test.difference.exp(), test.ci(LEVEL).map(f64::exp)),
        // The command line requires at least two seeds.
        None => (f64::NAN, [f64::NEG_INFINITY, f64::INFINITY]),
    }
}

/// The difference of two candidates' rates, as a ratio.
struct Difference {
    ratio: f64,
    /// The interval over the seeds.
    seeds: [f64; 2],
    /// That interval, widened by the model's errors.
    model: Option<[f64; 2]>,
}

impl Difference {
    fn of((ratio, seeds): (f64, [f64; 2]), of_model: Option<f64>) -> Self {
        let widened = |factor: f64| [seeds[0] / factor, seeds[1] * factor];
        Self {
            ratio,
            seeds,
            model: of_model.map(widened),
        }
    }

    /// Why the two cannot be told apart; `None` if they can.
    fn doubt(&self) -> Option<Doubt> {
        let excludes_one = |interval: [f64; 2]| interval[0] > 1.0 || interval[1] < 1.0;
        if (1.0 / (1.0 + ALIKE)..=1.0 + ALIKE).contains(&self.ratio) {
            return Some(Doubt::Small);
        }
        if !excludes_one(self.seeds) {
            return Some(Doubt::Seeds);
        }
        match self.model {
            None => Some(Doubt::Untested),
            Some(interval) if !excludes_one(interval) => Some(Doubt::Model),
            Some(_) => None,
        }
    }
}

/// The experiment that measures candidates of a kind on the machine itself.
fn measured_by(kind: &str) -> &'static str {
    match kind {
        "lockref" => "cyclewise run lockref",
        "reference count" => "cyclewise run refcount",
        _ => "cyclewise run spinlock",
    }
}

#[cfg(test)]
mod tests;
