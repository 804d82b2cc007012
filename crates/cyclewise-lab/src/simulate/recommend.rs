//! What suits a machine: for each count of threads, candidates simulated under several seeds, and the best with its margin.
//!
//! # Invariants
//! 1. What is taken has at most 5 % less than the best geometric mean over the seeds; of several, it is the first of the
//!    list, which has the plainest first.
//! 2. A verdict tells two apart only where the 95 % interval over the seeds allows it, and more than 5 % lie between.

use crate::error::{Error, Result};
use crate::record::{Tool, Verdict};
use crate::simulate::lists::relax_name;
use crate::stats;
use cyclewise_sim::{Job, Length, Machine, Relax, Workload, simulate};
use rayon::prelude::*;
use serde::Serialize;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

/// The schema of the document.
pub const SCHEMA: &str = "cyclewise.recommendation/1";

/// Rates closer than this share are alike whatever the seeds say: the model is not finer than that.
const MODEL: f64 = 0.05;

/// A candidate whose short run is behind the best one's by more than this factor gets no longer ones.
const HEAT: f64 = 1.5;

/// Operations of a short run, at least.
const HEAT_OPERATIONS: u64 = 300;

/// The level of the intervals.
const LEVEL: f64 = 0.95;

/// Retry limits that are tried: Linux's first, then from few to many.
const LIMITS: [u32; 7] = [100, 2, 5, 15, 50, 200, 500];

/// Ways to relax that are tried, the plainest first.
const RELAXES: [Relax; 3] = [Relax::None, Relax::Pause, Relax::Exponential { max: 64 }];

/// What is asked of the simulator.
#[derive(Clone, Debug)]
pub struct Question {
    /// The machine.
    pub machine: Machine,
    /// Counts of threads.
    pub threads: Vec<u32>,
    /// Work inside, in cycles.
    pub critical_cycles: u32,
    /// Work between, in cycles.
    pub parallel_cycles: u32,
    /// The first seed.
    pub seed: u64,
    /// How many.
    pub seeds: u32,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Recommendation {
    /// Always [`SCHEMA`].
    pub schema: &'static str,
    /// What wrote it.
    pub tool: Tool,
    /// The machine in full.
    pub machine: Machine,
    /// Work inside, in cycles.
    pub critical_cycles: u32,
    /// Work between, in cycles.
    pub parallel_cycles: u32,
    /// The seeds, from the first to the last.
    pub seeds: [u64; 2],
    /// By kind, then by threads.
    pub choices: Vec<Choice>,
}

/// What to take for one thing on so many threads.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Choice {
    /// What it is for.
    pub kind: &'static str,
    /// Threads.
    pub threads: u32,
    /// What to take.
    pub take: Candidate,
    /// Its rate: geometric mean over the seeds, all threads together.
    pub ops_per_s: f64,
    /// The best of the others, where there is one.
    pub next: Option<Rival>,
    /// The worst of the others: what is at stake.
    pub worst: Option<Stake>,
    /// Every candidate that cannot be told from the best, that is taken among them.
    pub alike: Vec<Candidate>,
    /// Candidates that got nowhere under this machine's laws.
    pub stuck: Vec<Candidate>,
}

/// A candidate that was not taken.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rival {
    /// Which.
    #[serde(flatten)]
    pub candidate: Candidate,
    /// Rate of the one taken to its rate: geometric means over the seeds.
    pub ratio: f64,
    /// 95 % interval of that (Welch, of logarithms).
    pub ratio_ci95: [f64; 2],
    /// Whether they can be told apart.
    pub verdict: Verdict,
}

/// The candidate that did worst.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Stake {
    /// Which.
    #[serde(flatten)]
    pub candidate: Candidate,
    /// Rate of the one taken to its rate, in one short run of each.
    pub ratio: f64,
}

/// A primitive with its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Candidate {
    /// The program.
    pub workload: Workload,
    /// Its limit; `None` where it has none.
    pub retry_limit: Option<u32>,
    /// What its loop does between tries; `None` where it has no such loop.
    pub relax: Option<Relax>,
}

impl Candidate {
    /// As the table names it.
    pub fn name(&self) -> String {
        let mut name = self.workload.name().to_owned();
        if let Some(limit) = self.retry_limit {
            name.push_str(&format!(" limit {limit}"));
        }
        match self.relax {
            None | Some(Relax::None) => {}
            Some(relax) => name.push_str(&format!(" relax {}", relax_name(relax))),
        }
        name
    }

    fn job(&self, question: &Question, threads: u32, seed: u64) -> Job {
        Job {
            retry_limit: self.retry_limit,
            relax: self.relax.unwrap_or_default(),
            critical_cycles: question.critical_cycles,
            parallel_cycles: question.parallel_cycles,
            seed,
            ..Job::new(self.workload, threads)
        }
    }
}

/// What is chosen among, by kind.
fn kinds() -> [(&'static str, Vec<Candidate>); 3] {
    let plain = |workload| Candidate {
        workload,
        retry_limit: None,
        relax: None,
    };
    let relaxed = |workload, limit| {
        RELAXES.map(|relax| Candidate {
            workload,
            retry_limit: limit,
            relax: Some(relax),
        })
    };
    let mut lockref: Vec<Candidate> = LIMITS
        .iter()
        .flat_map(|limit| relaxed(Workload::Lockref, Some(*limit)))
        .collect();
    // The plainest of each limit before any that relaxes.
    lockref.sort_by_key(|c| RELAXES.iter().position(|r| Some(*r) == c.relax));
    lockref.extend(relaxed(Workload::LockrefUnbounded, None));
    lockref.extend(relaxed(Workload::LockrefAdaptive, Some(LIMITS[0])));
    lockref.push(plain(Workload::LockrefLocked));
    let mut references = vec![plain(Workload::Refcount), plain(Workload::Rcuref)];
    references.extend(relaxed(Workload::RefcountCasFull, None));
    references.extend(relaxed(Workload::IncNotZero, None));
    let locks = [
        Workload::LockQueued,
        Workload::LockMcs,
        Workload::LockTicket,
        Workload::LockTtas,
        Workload::LockTas,
    ];
    [
        ("lockref", lockref),
        ("reference count", references),
        ("lock", locks.map(plain).into()),
    ]
}

/// A candidate's rates by seed; `None` where it got nowhere.
struct Tried {
    candidate: Candidate,
    rates: Option<Vec<f64>>,
}

/// One thing on so many threads, and what is known of each candidate by now.
struct Race {
    kind: &'static str,
    threads: u32,
    /// Rates of short runs with the first seed.
    heats: Vec<(Candidate, Option<f64>)>,
}

impl Race {
    /// Those that may be the best, and the next best whatever it is: the others are behind by more than seeds or a longer run
    /// make up for.
    fn finalists(&self) -> Vec<Candidate> {
        let mut rates: Vec<f64> = self.heats.iter().filter_map(|(_, rate)| *rate).collect();
        rates.sort_by(|a, b| b.total_cmp(a));
        let best = rates.first().copied().unwrap_or(f64::INFINITY);
        let second = rates.get(1).copied().unwrap_or(best);
        let enough = second.min(best / HEAT);
        let near = self.heats.iter().filter(|(_, rate)| rate.is_some_and(|r| r >= enough));
        near.map(|(candidate, _)| *candidate).collect()
    }
}

/// Simulates every candidate. `tell` is told how many of how many runs are done, from any thread.
///
/// # Errors
/// Exit 1 where no candidate of a kind got anywhere.
pub fn recommend(question: &Question, tool: Tool, tell: &(dyn Fn(usize, usize) + Sync)) -> Result<Recommendation> {
    let seeds: Vec<u64> = (0..u64::from(question.seeds))
        .map(|i| question.seed.wrapping_add(i))
        .collect();
    let kinds = kinds();
    let per_count: usize = kinds.iter().map(|(_, all)| all.len()).sum();
    let (done, heats) = (AtomicUsize::new(0), per_count * question.threads.len());
    let all = AtomicUsize::new(heats);
    let rate = |candidate: &Candidate, threads: u32, seed: u64, short: bool| {
        let mut job = candidate.job(question, threads, seed);
        if short {
            job.length = Length::Operations {
                warm_up: u64::from(threads),
                measured: HEAT_OPERATIONS.max(5 * u64::from(threads)),
            };
        }
        let outcome = simulate(&question.machine, &job).ok();
        // Relaxed: counts for people.
        tell(done.fetch_add(1, Relaxed) + 1, all.load(Relaxed));
        outcome.map(|o| o.ops_per_s)
    };
    let asked = kinds
        .iter()
        .flat_map(|(kind, all)| question.threads.iter().map(move |threads| (*kind, *threads, all)));
    // Many threads are slow, so every run is a part of its own.
    let races: Vec<Race> = asked
        .map(|(kind, threads, all)| Race {
            kind,
            threads,
            heats: all
                .par_iter()
                .with_max_len(1)
                .map(|c| (*c, rate(c, threads, question.seed, true)))
                .collect(),
        })
        .collect();
    let finalists: usize = races.iter().map(|race| race.finalists().len()).sum();
    all.store(heats + finalists * seeds.len(), Relaxed);
    let choices = races.iter().map(|race| {
        let tried = |candidate: Candidate| {
            let rates = seeds.par_iter().map(|seed| rate(&candidate, race.threads, *seed, false));
            Tried {
                candidate,
                rates: rates.collect(),
            }
        };
        let tried: Vec<Tried> = race
            .finalists()
            .into_par_iter()
            .with_max_len(1)
            .map(tried)
            .collect();
        choose(race, tried).ok_or_else(|| {
            Error::check(format!(
                "no {} gets anywhere on {} with {} threads: under its laws threads only disturb each other; a hold time in its file \
                 would end that",
                race.kind, question.machine.name, race.threads
            ))
        })
    });
    Ok(Recommendation {
        schema: SCHEMA,
        tool,
        machine: question.machine.clone(),
        critical_cycles: question.critical_cycles,
        parallel_cycles: question.parallel_cycles,
        seeds: [question.seed, *seeds.last().unwrap_or(&question.seed)],
        choices: choices.collect::<Result<_>>()?,
    })
}

/// The best of those that got anywhere.
fn choose(race: &Race, tried: Vec<Tried>) -> Option<Choice> {
    let runs: Vec<(Candidate, Vec<f64>)> = tried
        .into_iter()
        .filter_map(|t| Some((t.candidate, t.rates?)))
        .collect();
    // Geometric means, as the ratios are: one lucky seed does not make a candidate.
    let middle = |rates: &[f64]| rates.iter().map(|r| r.ln()).sum::<f64>() / rates.len() as f64;
    let best = runs.iter().max_by(|a, b| middle(&a.1).total_cmp(&middle(&b.1)))?;
    let alike: Vec<&(Candidate, Vec<f64>)> = runs.iter().filter(|run| !told_apart(ratio(&best.1, &run.1))).collect();
    // The best is as good as itself, so there is one.
    let take = alike.iter().find(|run| ratio(&best.1, &run.1).0 <= 1.0 + MODEL)?;
    let rival = |run: &(Candidate, Vec<f64>)| {
        let (value, ci95) = ratio(&take.1, &run.1);
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
    let next = others.max_by(|a, b| middle(&a.1).total_cmp(&middle(&b.1))).map(rival);
    let ran = race.heats.iter().filter_map(|(c, rate)| Some((*c, (*rate)?)));
    let heat_of_take = race
        .heats
        .iter()
        .find(|(c, _)| *c == take.0)
        .and_then(|(_, rate)| *rate);
    let worst = ran.filter(|(c, _)| *c != take.0).min_by(|a, b| a.1.total_cmp(&b.1));
    Some(Choice {
        kind: race.kind,
        threads: race.threads,
        take: take.0,
        ops_per_s: middle(&take.1).exp(),
        next,
        worst: worst.and_then(|(candidate, rate)| {
            Some(Stake {
                candidate,
                ratio: heat_of_take? / rate,
            })
        }),
        alike: alike.iter().map(|run| run.0).collect(),
        stuck: race
            .heats
            .iter()
            .filter(|(_, rate)| rate.is_none())
            .map(|(c, _)| *c)
            .collect(),
    })
}

/// Ratio of geometric means, and its interval.
fn ratio(a: &[f64], b: &[f64]) -> (f64, [f64; 2]) {
    let logs = |rates: &[f64]| rates.iter().map(|r| r.ln()).collect::<Vec<f64>>();
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
mod tests {
    use super::*;

    /// Candidates that differ by their limits, from 1.
    fn chosen(rates: &[Option<&[f64]>]) -> Option<Choice> {
        let candidate = |limit| Candidate {
            workload: Workload::Lockref,
            retry_limit: Some(limit),
            relax: None,
        };
        let all = || (1..).map(candidate).zip(rates);
        let race = Race {
            kind: "lockref",
            threads: 8,
            heats: all().map(|(c, rates)| (c, rates.map(|r| r[0]))).collect(),
        };
        let finalists = race.finalists();
        let tried = all()
            .filter(|(c, _)| finalists.contains(c))
            .map(|(candidate, rates)| Tried {
                candidate,
                rates: rates.map(<[f64]>::to_vec),
            });
        choose(&race, tried.collect())
    }

    #[test]
    fn the_best_is_taken_where_it_can_be_told() {
        let choice = chosen(&[
            Some(&[1.0, 1.01, 0.99]),
            Some(&[2.0, 2.02, 1.98]),
            Some(&[1.5, 1.51, 1.49]),
            None,
        ])
        .unwrap();
        assert_eq!(choice.take.retry_limit, Some(2));
        let next = choice.next.unwrap();
        assert_eq!((next.candidate.retry_limit, next.verdict), (Some(3), Verdict::Faster));
        assert!(
            (next.ratio - 4.0 / 3.0).abs() < 1e-3 && next.ratio_ci95[0] > 1.2,
            "{next:?}"
        );
        let worst = choice.worst.unwrap();
        assert_eq!(
            (worst.candidate.retry_limit, worst.ratio),
            (Some(1), 2.0),
            "it ran once"
        );
        assert_eq!((choice.alike.len(), choice.stuck.len()), (1, 1));
        // However far behind, the next best has its margin.
        let far = chosen(&[Some(&[1.0, 1.01]), Some(&[9.0, 9.01])]).unwrap();
        assert!((far.next.unwrap().ratio - 9.0).abs() < 0.1);
    }

    #[test]
    fn of_those_alike_the_plainest_is_taken() {
        // The second is better by less than the model can mean; or by more, but by less than its seeds differ.
        let same: [&[f64]; 2] = [&[1.0, 1.0, 1.0], &[1.04, 1.04, 1.04]];
        let noisy: [&[f64]; 2] = [&[1.0, 1.2, 0.8], &[1.2, 1.4, 1.0]];
        for (all, taken) in [(same, 1), (noisy, 2)] {
            let choice = chosen(&all.map(Some)).unwrap();
            assert_eq!(choice.take.retry_limit, Some(taken));
            assert_eq!(choice.next.unwrap().verdict, Verdict::Indistinguishable);
            assert_eq!(choice.alike.len(), 2);
        }
    }

    #[test]
    fn where_nothing_gets_anywhere_there_is_no_choice() {
        assert_eq!(chosen(&[None]), None);
    }

    #[test]
    fn each_candidate_is_listed_once_and_linux_s_first() {
        for (kind, all) in kinds() {
            for (i, candidate) in all.iter().enumerate() {
                assert!(!all[..i].contains(candidate), "{kind}: {}", candidate.name());
            }
        }
        assert_eq!(kinds()[0].1[0].name(), "lockref limit 100");
    }
}
