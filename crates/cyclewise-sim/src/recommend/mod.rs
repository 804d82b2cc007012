//! Recommends primitives for a machine: for each thread count, simulates the candidates under several seeds and chooses the
//! best, with its margin.
//!
//! # Invariants
//! 1. The chosen candidate's geometric mean rate over the seeds is within 5 % of the best; of several, the first in the list is
//!    chosen, and the list starts with the simplest.
//! 2. A verdict is `faster` or `slower` only if the 95 % interval over the seeds, widened by the model's error bands, excludes 1 and the
//!    difference is above 5 %. Where there is no band, there is no such verdict.
//! 3. A candidate that starves a thread is chosen only if all do. A lock that one thread never releases to others is the fastest,
//!    but useless.

mod answer;
mod candidate;
mod race;

pub(crate) use answer::{Choice, Doubt, Recommendation, Rival, SCHEMA, Worst};
pub(crate) use candidate::Candidate;

use crate::band::{Band, band, relative_band};
use crate::exam::Reach;
use crate::{Job, Machine, Workload, simulate};
use candidate::kinds;
use cyclewise_bench::error::{Error, Result};
use cyclewise_bench::record::Tool;
use cyclewise_bench::sys::interrupt;
use race::{CandidateRuns, Race, RunResult};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

/// The parameters of a recommendation.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    /// The machine.
    pub machine: Machine,
    /// Thread counts.
    pub threads: Vec<u32>,
    /// Critical work, in cycles.
    pub critical_cycles: u32,
    /// Parallel work, in cycles.
    pub parallel_cycles: u32,
    /// The first seed.
    pub seed: u64,
    /// The number of seeds.
    pub seeds: u32,
}

/// Simulates every candidate. Calls `tell`, from any thread, with the number of runs done and the total.
///
/// # Errors
/// Exit 1 if no candidate of a kind makes progress.
pub(crate) fn recommend(
    question: &Question,
    tool: Tool,
    tell: &(dyn Fn(usize, usize) + Sync),
) -> Result<Recommendation> {
    let seeds: Vec<u64> = (0..u64::from(question.seeds))
        .map(|i| question.seed.wrapping_add(i))
        .collect();
    let kinds = kinds();
    let per_count: usize = kinds.iter().map(|(_, all)| all.len()).sum();
    let (done, short_runs) = (AtomicUsize::new(0), per_count * question.threads.len());
    let all = AtomicUsize::new(short_runs);
    let run = |candidate: &Candidate, threads: u32, seed: u64, long: bool| {
        if interrupt::asked() {
            return None;
        }
        let outcome = simulate(&question.machine, &candidate.job(question, threads, seed, long)).ok();
        // Relaxed: only progress counts.
        tell(done.fetch_add(1, Relaxed) + 1, all.load(Relaxed));
        outcome.as_ref().map(RunResult::of)
    };
    let asked = kinds
        .iter()
        .flat_map(|(kind, all)| question.threads.iter().map(move |threads| (*kind, *threads, all)));
    // Runs with many threads are slow, so every run is its own parallel task.
    let short_rate = |c: &Candidate, threads| Some(run(c, threads, question.seed, false)?.rate);
    let mut races: Vec<Race> = asked
        .map(|(kind, threads, all)| Race {
            kind,
            threads,
            short_rates: all
                .par_iter()
                .with_max_len(1)
                .map(|c| (*c, short_rate(c, threads)))
                .collect(),
            long_runs: Vec::new(),
        })
        .collect();
    let finalists: usize = races.iter().map(|race| race.finalists().len()).sum();
    all.store(short_runs + finalists * seeds.len(), Relaxed);
    let mut decided = 0;
    for race in &mut races {
        if interrupt::asked() {
            break;
        }
        loop {
            let due = race.finalists_without_long_run();
            if due.is_empty() {
                break;
            }
            if !race.long_runs.is_empty() {
                all.fetch_add(due.len() * seeds.len(), Relaxed);
            }
            let threads = race.threads;
            let long = |candidate: Candidate| CandidateRuns {
                candidate,
                runs: seeds
                    .par_iter()
                    .map(|seed| run(&candidate, threads, *seed, true))
                    .collect(),
            };
            race.long_runs
                .extend(due.into_par_iter().with_max_len(1).map(long).collect::<Vec<_>>());
        }
        decided += usize::from(!interrupt::asked());
    }
    let left_out = races.split_off(decided);
    if races.is_empty() && !left_out.is_empty() {
        return Err(Error::check(format!(
            "{} came before anything could be recommended",
            interrupt::name()
        )));
    }
    // Of each workload and reach once.
    let mut bands: BTreeMap<(&str, Reach), Option<Band>> = BTreeMap::new();
    for candidate in kinds.iter().flat_map(|(_, all)| all) {
        for reach in [Reach::Socket, Reach::Sockets] {
            let of = || relative_band(&question.machine, candidate.workload, reach);
            bands.entry((candidate.workload.name(), reach)).or_insert_with(of);
        }
    }
    let choices = races.iter().map(|race| {
        let of = |workload: Workload| {
            let reach = Reach::of(&question.machine, &Job::new(workload, race.threads));
            *bands.get(&(workload.name(), reach))?
        };
        let absolute = |workload: Workload| {
            let job = Job::new(workload, race.threads);
            band(&question.machine, workload, Reach::of(&question.machine, &job))
        };
        race.choose(&of, &absolute).ok_or_else(|| {
            Error::check(format!(
                "no {} makes progress on {} with {} threads: under its laws threads only disturb each other; add a hold time to its \
                 machine file",
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
        missing: left_out
            .iter()
            .map(|race| format!("{} with {} threads", race.kind, race.threads))
            .collect(),
    })
}
