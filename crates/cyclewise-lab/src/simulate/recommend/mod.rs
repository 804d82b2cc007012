//! What suits a machine: for each count of threads, candidates simulated under several seeds, and the best with its margin.
//!
//! # Invariants
//! 1. What is taken has at most 5 % less than the best geometric mean over the seeds; of several, it is the first of the
//!    list, which has the plainest first.
//! 2. A verdict tells two apart only where the 95 % interval over the seeds allows it, and more than 5 % lie between.
//! 3. What starves a thread is not taken where there is anything else: a lock that one thread never lets go of is the fastest
//!    of all, and none.

mod answer;
mod candidate;
mod race;

pub use answer::{Choice, Recommendation, Rival, SCHEMA, Stake};
pub use candidate::Candidate;

use crate::error::{Error, Result};
use crate::record::Tool;
use candidate::kinds;
use cyclewise_sim::{Machine, simulate};
use race::{Race, Ran, Tried};
use rayon::prelude::*;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

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
    let run = |candidate: &Candidate, threads: u32, seed: u64, long: bool| {
        let outcome = simulate(&question.machine, &candidate.job(question, threads, seed, long)).ok();
        // Relaxed: counts for people.
        tell(done.fetch_add(1, Relaxed) + 1, all.load(Relaxed));
        outcome.as_ref().map(Ran::of)
    };
    let asked = kinds
        .iter()
        .flat_map(|(kind, all)| question.threads.iter().map(move |threads| (*kind, *threads, all)));
    // Many threads are slow, so every run is a part of its own.
    let heat = |c: &Candidate, threads| Some(run(c, threads, question.seed, false)?.rate);
    let mut races: Vec<Race> = asked
        .map(|(kind, threads, all)| Race {
            kind,
            threads,
            heats: all.par_iter().with_max_len(1).map(|c| (*c, heat(c, threads))).collect(),
            tried: Vec::new(),
        })
        .collect();
    let finalists: usize = races.iter().map(|race| race.finalists().len()).sum();
    all.store(heats + finalists * seeds.len(), Relaxed);
    for race in &mut races {
        loop {
            let due = race.untried();
            if due.is_empty() {
                break;
            }
            if !race.tried.is_empty() {
                all.fetch_add(due.len() * seeds.len(), Relaxed);
            }
            let threads = race.threads;
            let long = |candidate: Candidate| Tried {
                candidate,
                runs: seeds
                    .par_iter()
                    .map(|seed| run(&candidate, threads, *seed, true))
                    .collect(),
            };
            race.tried
                .extend(due.into_par_iter().with_max_len(1).map(long).collect::<Vec<_>>());
        }
    }
    let choices = races.iter().map(|race| {
        race.choose().ok_or_else(|| {
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
