//! Recommends primitives for a machine: for each thread count, predicts the candidates and says which is told to be the best.
//!
//! # Invariants
//! 1. A candidate is called faster than another only if it is faster in each of the prediction's runs, whose machines are the same for both, and
//!    by more than the error of nine in ten ratios of the two programs on published machines that had been held out. Without such ratios
//!    neither is called faster.
//! 2. The recommended candidate is the first in the list than which none is called faster; the list begins with the simplest. So what cannot
//!    be told changes nothing.
//! 3. A candidate that starves a thread is recommended only if all do. A lock that one thread never releases to others is the fastest,
//!    but useless.

mod answer;
mod candidate;
mod compare;

pub(crate) use answer::{Choice, Other, Recommendation, SCHEMA, Verdict};
pub(crate) use candidate::Candidate;

use crate::Machine;
use crate::exam::predict;
use candidate::kinds;
use compare::Runs;
use cyclewise_bench::error::{Error, Result};
use cyclewise_bench::record::Tool;
use cyclewise_bench::sys::interrupt;
use rayon::prelude::*;
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
}

/// Predicts every candidate. Calls `tell`, from any thread, with the number of predictions done and the total.
///
/// # Errors
/// Exit 1 if no candidate of a kind makes progress.
pub(crate) fn recommend(
    question: &Question,
    tool: Tool,
    tell: &(dyn Fn(usize, usize) + Sync),
) -> Result<Recommendation> {
    let kinds = kinds();
    let lines = kinds
        .iter()
        .flat_map(|(kind, all)| question.threads.iter().map(move |threads| (*kind, *threads, all)));
    let lines: Vec<_> = lines.collect();
    let (done, all) = (AtomicUsize::new(0), lines.iter().map(|(_, _, all)| all.len()).sum());
    let runs = |candidate: &Candidate, threads: u32| {
        if interrupt::asked() {
            return None;
        }
        let found = predict(&question.machine, &candidate.job(question, threads)).ok();
        // Relaxed: only progress counts.
        tell(done.fetch_add(1, Relaxed) + 1, all);
        Some(Runs {
            candidate: *candidate,
            found,
        })
    };
    let (mut choices, mut missing) = (Vec::new(), Vec::new());
    for (kind, threads, all) in lines {
        let runs: Option<Vec<Runs>> = all.par_iter().with_max_len(1).map(|c| runs(c, threads)).collect();
        let Some(runs) = runs else {
            missing.push(format!("{kind} with {threads} threads"));
            continue;
        };
        let choice = compare::choose(&question.machine, kind, threads, &runs).ok_or_else(|| {
            Error::check(format!(
                "no {kind} makes progress on {} with {threads} threads: under its laws threads only disturb each other; add a hold time to its \
                 machine file",
                question.machine.name
            ))
        })?;
        choices.push(choice);
    }
    if choices.is_empty() && !missing.is_empty() {
        return Err(Error::check(format!(
            "{} came before anything could be recommended",
            interrupt::name()
        )));
    }
    Ok(Recommendation {
        schema: SCHEMA,
        tool,
        machine: question.machine.clone(),
        critical_cycles: question.critical_cycles,
        parallel_cycles: question.parallel_cycles,
        seed: question.seed,
        choices,
        missing,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Job, Relax, Workload};

    fn asked(machine: &str, threads: u32, parallel_cycles: u32) -> Recommendation {
        let question = Question {
            machine: Machine::preset(machine).unwrap().machine().unwrap(),
            threads: vec![threads],
            critical_cycles: 0,
            parallel_cycles,
            seed: 1,
        };
        recommend(&question, Tool::this(), &|_, _| ()).unwrap()
    }

    fn pauses(candidate: &Candidate) -> bool {
        candidate.relax == Some(Relax::Pause)
    }

    /// Of a lockref that pauses, beside the recommended one that does not.
    fn lockref_with_a_pause(r: &Recommendation) -> &Other {
        let lockref = r.choices.iter().find(|choice| choice.kind == "lockref").unwrap();
        assert!(!pauses(&lockref.take), "{lockref:?}");
        lockref.others.iter().find(|other| pauses(&other.candidate)).unwrap()
    }

    /// Linux f5fe24ef17b5: on a Cascade Lake, fstat of one file gains 1.7 times at 8 and 2.4 at 24 processes without PAUSE in lockref.
    #[test]
    fn on_cascade_lake_a_pause_in_a_lockref_is_never_advised_nor_said_to_be_alike() {
        for (threads, gain) in [(8, 1.69), (24, 2.44)] {
            let r = asked("xeon-8275cl", threads, 1080);
            let pause = lockref_with_a_pause(&r);
            assert_ne!(pause.verdict, Verdict::Alike, "{pause:?}");
            assert!(
                pause.verdict == Verdict::CannotTell || pause.ratio[0] <= gain,
                "{pause:?}"
            );
        }
    }

    /// J. Glauber, LKML 2019-04-29: on ThunderX2 cpu_relax() is a NOP, so neither is faster.
    #[test]
    fn on_thunderx2_a_pause_is_a_nop_and_neither_is_told_to_be_faster() {
        let pause = asked("thunderx2", 28, 0);
        assert_ne!(lockref_with_a_pause(&pause).verdict, Verdict::Faster);
    }

    /// T. Downs, concurrency-hierarchy-bench: on Skylake a test-and-test-and-set lock takes 55 ns with PAUSE and 160 without, on 4 threads.
    #[test]
    fn on_skylake_a_pause_in_a_lock_that_spins_is_not_advised_against() {
        let skylake = asked("i7-6700hq", 4, 0);
        let lock = skylake.choices.iter().find(|choice| choice.kind == "lock").unwrap();
        let is_blind = |c: &Candidate| c.workload == Workload::LockTtas && !pauses(c);
        assert!(!is_blind(&lock.take), "{lock:?}");
        let time = |relax| {
            let job = Job {
                relax,
                ..Job::new(Workload::LockTtas, 4)
            };
            predict(&skylake.machine, &job).unwrap().range().ns
        };
        assert!(time(Relax::Pause)[0] < time(Relax::None)[1]);
    }
}
