//! Breaks each law on purpose; its check must detect that.

use super::*;
use crate::machine::{Arbiter, Topology};
use std::sync::atomic::{AtomicU64, Ordering};

fn machine() -> Machine {
    let mut machine = Machine::plain(Topology::new(2, 1, 2, 2));
    machine.cost.jitter = 0.1;
    machine
}

fn job(workload: Workload) -> Job {
    Job::new(workload, 4)
}

fn buffered() -> Machine {
    let mut machine = machine();
    machine.mechanism.store_buffer = 16;
    machine
}

#[test]
fn without_a_broken_law_nothing_is_detected() {
    for machine in [machine(), buffered()] {
        for &workload in Workload::ALL {
            assert_eq!(observe(&machine, &job(workload), None), Verdict::Kept, "{workload}");
        }
    }
}

#[test]
fn each_broken_law_is_detected() {
    use Workload::{CasLoop, FetchAdd, LlSc, LockTicket, LockTtas, Lockref, Refcount};
    let counts = &[FetchAdd, CasLoop, LlSc, Refcount][..];
    for (law, workloads, machine, verdict) in [
        (
            Law::OneOwner,
            &[CasLoop, Lockref, LockTicket][..],
            machine(),
            Verdict::Broken(Law::OneOwner),
        ),
        (Law::NoLostWrite, counts, machine(), Verdict::NotConserved),
        (Law::NoInventedWrite, counts, machine(), Verdict::NotConserved),
        (Law::EveryReply, Workload::ALL, machine(), Verdict::NoProgress),
        (
            Law::MonotonicTime,
            Workload::ALL,
            machine(),
            Verdict::Broken(Law::MonotonicTime),
        ),
        // The store that releases a lock must not pass those of its section.
        (
            Law::StoreOrder,
            &[LockTicket, LockTtas],
            buffered(),
            Verdict::Broken(Law::StoreOrder),
        ),
    ] {
        for &workload in workloads {
            let found = observe(&machine, &job(workload), Some(law));
            assert_eq!(found, verdict, "{law:?} {workload}");
        }
    }
}

/// A run with random numbers that do not depend on its seed gives different bytes for the same seed.
#[test]
fn unseeded_randomness_is_detected() {
    static OTHER_SEED: AtomicU64 = AtomicU64::new(0);
    let mut random = machine();
    random.line.arbiter = Arbiter::Random;
    let unseeded = || {
        let mut run = Run::new(&random, &job(Workload::CasLoop)).expect("it fits");
        run.model.reseed(OTHER_SEED.fetch_add(1, Ordering::Relaxed));
        run.measure().expect("it makes progress");
        serde_json::to_string(&run.outcome()).expect("plain numbers")
    };
    assert_ne!(unseeded(), unseeded());
}

/// A lock without mutual exclusion loses increments of its section's counter.
#[test]
fn a_lock_without_mutual_exclusion_is_detected() {
    let mut run = Run::new(&machine(), &job(Workload::LockTas)).expect("it fits");
    let words = run.prepared.memory.values().len();
    assert_eq!(words, 2, "the lock, and what it protects");
    while run.model.live() > 0 {
        assert!(run.model.step());
        // A stray store unlocks it repeatedly.
        run.model.disturb(0);
    }
    assert!(run.check().is_err());
}

/// A load that does not find its own thread's store reads an old count.
#[test]
fn a_load_that_passes_its_own_store_is_detected() {
    let mut machine = buffered();
    machine.cost.store_cycles = 50;
    let verdict = observe(&machine, &Job::new(Workload::PercpuCounter, 1), Some(Law::Forwarding));
    assert_eq!(verdict, Verdict::NotConserved);
}
