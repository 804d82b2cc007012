//! Laws that every run must obey, on random machines and jobs; and tests that a broken law is detected.

mod any;
mod twins;

use super::*;
use crate::engine::Law;
use crate::workload::Workload;
use any::{any_job, any_machine};
use proptest::prelude::*;

/// The result of an observed run.
#[derive(Debug, PartialEq)]
enum Verdict {
    /// Every law was obeyed.
    Kept,
    /// This law was broken.
    Broken(Law),
    /// The lines' values do not match the operations.
    NotConserved,
    /// A thread made no progress.
    NoProgress,
}

/// Simulates a job and checks the laws after each event; may break one law on purpose.
fn observe(machine: &Machine, job: &Job, broken: Option<Law>) -> Verdict {
    let mut run = Run::new(machine, job).expect("jobs that fit are drawn");
    run.model.broken = broken;
    run.patience = 100_000;
    let (mut ops, mut events) = (0, 0);
    loop {
        let before = run.model.now();
        if run.model.live() == 0 {
            break;
        }
        if !run.model.step() || events == run.patience {
            return Verdict::NoProgress;
        }
        if let Some(law) = run.model.violated(before) {
            return Verdict::Broken(law);
        }
        events += 1;
        if run.meter.all_ops() != ops {
            (ops, events) = (run.meter.all_ops(), 0);
        }
    }
    if run.check().is_ok() {
        Verdict::Kept
    } else {
        Verdict::NotConserved
    }
}

/// A run's outcome, or no progress after fewer events than usual.
fn outcome(machine: &Machine, job: &Job) -> Result<Outcome, Error> {
    let mut run = Run::new(machine, job)?;
    run.patience = 100_000;
    run.measure()?;
    Ok(run.outcome())
}

/// The outcome as JSON.
fn bytes(machine: &Machine, job: &Job) -> Result<String, Error> {
    outcome(machine, job).map(|outcome| serde_json::to_string(&outcome).expect("plain numbers"))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// There is one owner at a time; time never goes back; no operation is lost or invented; counters match successes.
    #[test]
    fn every_law_holds(machine in any_machine(), job in any_job()) {
        let job = any::fit(job, &machine);
        let verdict = observe(&machine, &job, None);
        // A machine may have laws under which no reservation lasts long enough.
        let stuck = verdict == Verdict::NoProgress && job.workload == Workload::LlSc;
        prop_assert!(stuck || verdict == Verdict::Kept, "{verdict:?}");
    }

    #[test]
    fn the_same_seed_gives_the_same_bytes(machine in any_machine(), job in any_job()) {
        let job = any::fit(job, &machine);
        prop_assert_eq!(bytes(&machine, &job), bytes(&machine, &job));
    }

    /// The figures are consistent.
    #[test]
    fn figures_are_consistent(machine in any_machine(), job in any_job()) {
        let job = any::fit(job, &machine);
        if let Ok(outcome) = outcome(&machine, &job) {
            prop_assert_eq!(outcome.ops, 50);
            prop_assert!((outcome.ns_per_op * outcome.ops as f64 - outcome.elapsed_ns).abs() < 1e-6 * outcome.elapsed_ns.max(1.0));
            let latency = outcome.latency;
            let ladder = [latency.p50_ns, latency.p90_ns, latency.p99_ns, latency.p999_ns, latency.max_ns * 1.001];
            prop_assert!(ladder.is_sorted(), "{ladder:?}");
            prop_assert!(outcome.longest_wait_ns >= latency.max_ns);
            let least = 1.0 / f64::from(job.threads);
            prop_assert!((least - 1e-9..=1.0 + 1e-9).contains(&outcome.jain), "{}", outcome.jain);
            prop_assert!((0.0..=1.0).contains(&outcome.fallback_share));
        }
    }
}

/// Where the home answers a posted addition at once, the next one drains while the first is not done with.
#[test]
fn a_thread_that_a_posted_addition_lets_go_on_goes_on_once() {
    let mut machine = Machine::plain(crate::machine::Topology::new(1, 2, 1, 2));
    machine.line.rmw = crate::machine::Rmw::Far {
        cycles: 1,
        only_posted: false,
    };
    machine.cost = crate::machine::Cost {
        alu_cycles: 1,
        jitter: 0.0,
        ..machine.cost
    };
    (machine.mechanism.store_buffer, machine.mechanism.posted_rmws) = (2, 2);
    for seed in 0..200 {
        let job = Job {
            parallel_cycles: 1,
            length: Length::operations(10, 50),
            seed,
            ..Job::new(Workload::FetchAdd, 3)
        };
        assert_eq!(observe(&machine, &job, None), Verdict::Kept, "{seed}");
    }
}

/// Exclusive loads without a hold take the line from each other before any store; no useful machine has these laws.
#[test]
fn no_progress_is_an_error() {
    let mut machine = Machine::plain(crate::machine::Topology::new(1, 1, 4, 1));
    machine.line.ll_first_access = Some(crate::machine::FirstAccess::Exclusive);
    let job = Job::new(Workload::LlSc, 4);
    assert_eq!(
        outcome(&machine, &job).err(),
        Some(Error::NoProgress { events: 100_000 })
    );
}
