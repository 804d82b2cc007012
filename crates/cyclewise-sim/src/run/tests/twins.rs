//! Each law broken on purpose, and caught by what checks it.

use super::*;
use crate::machine::{Arbiter, Topology};
use std::sync::atomic::{AtomicU64, Ordering};

fn machine() -> Machine {
    let mut machine = Machine::plain(Topology {
        sockets: 2,
        clusters_per_socket: 1,
        cores_per_cluster: 2,
        threads_per_core: 2,
    });
    machine.cost.jitter = 0.1;
    machine
}

fn job(workload: Workload) -> Job {
    Job::new(workload, 4)
}

fn with_broken(workload: Workload, law: Law) -> Verdict {
    observe(&machine(), &job(workload), Some(law))
}

#[test]
fn nothing_is_caught_where_no_law_is_broken() {
    for &workload in Workload::ALL {
        assert_eq!(observe(&machine(), &job(workload), None), Verdict::Kept, "{workload}");
    }
}

#[test]
fn a_second_owner_is_caught() {
    for workload in [Workload::CasLoop, Workload::Lockref, Workload::LockTicket] {
        assert_eq!(
            with_broken(workload, Law::OneOwner),
            Verdict::Broken(Law::OneOwner),
            "{workload}"
        );
    }
}

#[test]
fn a_lost_operation_is_caught() {
    for workload in [
        Workload::FetchAdd,
        Workload::CasLoop,
        Workload::LlSc,
        Workload::Refcount,
    ] {
        assert_eq!(
            with_broken(workload, Law::NoneLost),
            Verdict::NotConserved,
            "{workload}"
        );
    }
}

#[test]
fn an_invented_operation_is_caught() {
    for workload in [
        Workload::FetchAdd,
        Workload::CasLoop,
        Workload::LlSc,
        Workload::Refcount,
    ] {
        assert_eq!(
            with_broken(workload, Law::NoneInvented),
            Verdict::NotConserved,
            "{workload}"
        );
    }
}

#[test]
fn an_access_without_an_answer_is_caught() {
    for &workload in Workload::ALL {
        assert_eq!(
            with_broken(workload, Law::EveryAnswer),
            Verdict::NoProgress,
            "{workload}"
        );
    }
}

#[test]
fn time_that_runs_back_is_caught() {
    for &workload in Workload::ALL {
        assert_eq!(
            with_broken(workload, Law::Time),
            Verdict::Broken(Law::Time),
            "{workload}"
        );
    }
}

/// A run whose chances come from elsewhere than its seed gives other bytes for the same seed.
#[test]
fn chances_that_the_seed_does_not_decide_are_caught() {
    static ELSEWHERE: AtomicU64 = AtomicU64::new(0);
    let mut random = machine();
    random.line.arbiter = Arbiter::Random;
    let unseeded = || {
        let mut run = Run::new(&random, &job(Workload::CasLoop)).expect("it fits");
        run.model.reseed(ELSEWHERE.fetch_add(1, Ordering::Relaxed));
        run.measure().expect("it gets on");
        serde_json::to_string(&run.outcome()).expect("plain numbers")
    };
    assert_ne!(unseeded(), unseeded());
}

/// A lock that does not exclude loses what its sections count: two locks for one section.
#[test]
fn a_lock_that_does_not_exclude_is_caught() {
    let mut run = Run::new(&machine(), &job(Workload::LockTas)).expect("it fits");
    let words = run.plan.memory.values().len();
    assert_eq!(words, 2, "the lock, and what it protects");
    while run.model.live() > 0 {
        assert!(run.model.step());
        // Somebody else's store unlocks it now and then.
        run.model.disturb(0);
    }
    assert!(run.check().is_err());
}
