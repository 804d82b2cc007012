//! Candidates against each other: short runs of all, long ones of those that may be the best, and what to take of them.

use super::candidate::Candidate;
use super::{Choice, Rival, Stake};
use crate::record::Verdict;
use crate::stats;
use cyclewise_sim::Outcome;

/// Rates closer than this share are alike whatever the seeds say: the model is not finer than that.
const MODEL: f64 = 0.05;

/// A candidate whose short run is behind the best one's by more than this factor gets no longer ones.
const HEAT: f64 = 1.5;

/// A thread that waited for this share of a run got nothing in it: the rest is for one that came while it began.
const NOTHING: f64 = 0.9;

/// The level of the intervals.
const LEVEL: f64 = 0.95;

/// What a run came to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ran {
    /// Operations a second.
    pub(super) rate: f64,
    /// Jain's index of the threads' shares.
    pub(super) jain: f64,
    /// Whether a thread got nothing in all that time.
    pub(super) starved: bool,
}

impl Ran {
    pub(super) fn of(outcome: &Outcome) -> Self {
        Self {
            rate: outcome.ops_per_s,
            jain: outcome.jain,
            starved: outcome.longest_wait_ns >= NOTHING * outcome.elapsed_ns,
        }
    }
}

/// A candidate's long runs by seed; `None` where it got nowhere.
pub(super) struct Tried {
    pub(super) candidate: Candidate,
    pub(super) runs: Option<Vec<Ran>>,
}

impl Tried {
    fn starves(&self) -> bool {
        self.runs
            .as_ref()
            .is_some_and(|runs| runs.iter().any(|run| run.starved))
    }
}

/// One thing on so many threads, and what is known of each candidate by now.
pub(super) struct Race {
    pub(super) kind: &'static str,
    pub(super) threads: u32,
    /// Rates of short runs with the first seed; `None` where it got nowhere.
    pub(super) heats: Vec<(Candidate, Option<f64>)>,
    /// Long runs of those that may be the best.
    pub(super) tried: Vec<Tried>,
}

impl Race {
    /// Those that may be the best, and the next best whatever it is, but for those that starve a thread: the others are behind
    /// by more than seeds or a longer run make up for. Where all starve a thread, they are among themselves.
    pub(super) fn finalists(&self) -> Vec<Candidate> {
        let starving = self.starving();
        let ran = || self.heats.iter().filter_map(|(c, rate)| Some((*c, (*rate)?)));
        let mut left: Vec<(Candidate, f64)> = ran().filter(|(c, _)| !starving.contains(c)).collect();
        if left.is_empty() {
            left = ran().collect();
        }
        let mut rates: Vec<f64> = left.iter().map(|(_, rate)| *rate).collect();
        rates.sort_by(|a, b| b.total_cmp(a));
        let best = rates.first().copied().unwrap_or(f64::INFINITY);
        let second = rates.get(1).copied().unwrap_or(best);
        let enough = second.min(best / HEAT);
        left.retain(|(_, rate)| *rate >= enough);
        left.into_iter().map(|(candidate, _)| candidate).collect()
    }

    /// The finalists without a long run: those that starve a thread make room for others.
    pub(super) fn untried(&self) -> Vec<Candidate> {
        let mut left = self.finalists();
        left.retain(|c| self.tried.iter().all(|t| t.candidate != *c));
        left
    }

    fn starving(&self) -> Vec<Candidate> {
        let starving = self.tried.iter().filter(|t| t.starves());
        starving.map(|t| t.candidate).collect()
    }

    /// The best of those that got anywhere.
    pub(super) fn choose(&self) -> Option<Choice> {
        let finalists = self.finalists();
        let runs: Vec<(Candidate, &[Ran])> = self
            .tried
            .iter()
            .filter(|t| finalists.contains(&t.candidate))
            .filter_map(|t| Some((t.candidate, t.runs.as_deref()?)))
            .collect();
        // Geometric means, as the ratios are: one lucky seed does not make a candidate.
        let middle = |runs: &[Ran]| runs.iter().map(|r| r.rate.ln()).sum::<f64>() / runs.len() as f64;
        let best = runs.iter().max_by(|a, b| middle(a.1).total_cmp(&middle(b.1)))?;
        let alike: Vec<_> = runs.iter().filter(|run| !told_apart(ratio(best.1, run.1))).collect();
        // The best is as good as itself, so there is one.
        let take = alike.iter().find(|run| ratio(best.1, run.1).0 <= 1.0 + MODEL)?;
        let rival = |run: &(Candidate, &[Ran])| {
            let (value, ci95) = ratio(take.1, run.1);
            Rival {
                candidate: run.0,
                ratio: value,
                ratio_ci95: ci95,
                verdict: match told_apart((value, ci95)) {
                    true if value > 1.0 => Verdict::Faster,
                    true => Verdict::Slower,
                    false => Verdict::Indistinguishable,
                },
            }
        };
        let others = runs.iter().filter(|run| run.0 != take.0);
        let next = others.max_by(|a, b| middle(a.1).total_cmp(&middle(b.1))).map(rival);
        Some(Choice {
            kind: self.kind,
            threads: self.threads,
            take: take.0,
            ops_per_s: middle(take.1).exp(),
            jain: take.1.iter().map(|r| r.jain).sum::<f64>() / take.1.len() as f64,
            next,
            worst: self.worst(take.0),
            alike: alike.iter().map(|run| run.0).collect(),
            stuck: self
                .heats
                .iter()
                .filter(|(_, rate)| rate.is_none())
                .map(|(c, _)| *c)
                .collect(),
            starving: self.starving(),
        })
    }

    /// The other whose short run was the slowest, against that of the one that is taken.
    fn worst(&self, take: Candidate) -> Option<Stake> {
        let ran = || self.heats.iter().filter_map(|(c, rate)| Some((*c, (*rate)?)));
        let (_, mine) = ran().find(|(c, _)| *c == take)?;
        let others = ran().filter(|(c, _)| *c != take);
        let (candidate, rate) = others.min_by(|a, b| a.1.total_cmp(&b.1))?;
        Some(Stake {
            candidate,
            ratio: mine / rate,
        })
    }
}

/// Ratio of geometric means, and its interval.
fn ratio(a: &[Ran], b: &[Ran]) -> (f64, [f64; 2]) {
    let logs = |runs: &[Ran]| runs.iter().map(|r| r.rate.ln()).collect::<Vec<f64>>();
    match stats::welch(&logs(a), &logs(b)) {
        Some(test) => (test.difference.exp(), test.ci(LEVEL).map(f64::exp)),
        // Fewer than two seeds are refused before.
        None => (f64::NAN, [f64::NEG_INFINITY, f64::INFINITY]),
    }
}

/// Whether the interval keeps off 1 and the ratio is more than the model can mean.
fn told_apart((ratio, ci95): (f64, [f64; 2])) -> bool {
    let beyond_seeds = ci95[0] > 1.0 || ci95[1] < 1.0;
    beyond_seeds && !(1.0 / (1.0 + MODEL)..=1.0 + MODEL).contains(&ratio)
}

#[cfg(test)]
mod tests;
