//! Programs that contend for a line.

use super::*;

#[test]
fn one_thread_pays_for_its_instructions_alone() {
    let outcome = on(&Machine::plain(topology(1, 4, 1)), Workload::FetchAdd, 1);
    near(outcome.ns_per_op, RMW + 1.0 / 3.0, 1.0);
    assert_eq!((outcome.line_moves_per_op, outcome.jain), (0.0, 1.0));
}

#[test]
fn readers_of_the_line_slow_its_writers() {
    let machine = Machine::plain(topology(1, 16, 1));
    let with = |readers| {
        let job = Job {
            readers,
            ..Job::new(Workload::FetchAdd, 4)
        };
        run(&machine, &job).ns_per_op
    };
    assert!(with(8) > 1.15 * with(0), "{} {}", with(8), with(0));
}

#[test]
fn a_pause_is_so_long_and_thins_the_crowd() {
    let mut machine = Machine::plain(topology(1, 28, 1));
    machine.cost.jitter = 0.2;
    let with = |relax| {
        let job = Job {
            relax,
            ..Job::new(Workload::CasLoop, 28)
        };
        run(&machine, &job).retries_per_success
    };
    let (none, exponential) = (with(Relax::None), with(Relax::Exponential { max: 1024 }));
    assert!(exponential < none / 2.0, "{none} {exponential}");
}

#[test]
fn work_between_operations_ends_the_contention() {
    let machine = Machine::plain(topology(1, 8, 1));
    let job = Job {
        parallel_cycles: 30_000,
        ..Job::new(Workload::CasLoop, 8)
    };
    let outcome = run(&machine, &job);
    near(outcome.ns_per_op, 10_000.0 / 8.0, 2.0);
    assert!(outcome.retries_per_success < 0.2, "{}", outcome.retries_per_success);
}

#[test]
fn counters_of_their_own_scale_with_the_threads() {
    let machine = Machine::plain(topology(2, 28, 4));
    let one = on(&machine, Workload::PercpuCounter, 1);
    let all = on(&machine, Workload::PercpuCounter, 224);
    near(all.ops_per_s / one.ops_per_s, 224.0, 10.0);
}

#[test]
fn a_crowd_past_the_limit_takes_the_lock_and_any_limit_is_alike() {
    // No hold, first come first served: more threads than tries.
    let machine = Machine::plain(topology(2, 112, 1));
    let with = |retry_limit| {
        let job = Job {
            retry_limit,
            length: Length::operations(1_120, 2_240),
            ..Job::new(Workload::Lockref, 224)
        };
        run(&machine, &job)
    };
    let unbounded = with(None);
    for limit in [15, 50, 100] {
        let bounded = with(Some(limit));
        assert!(bounded.fallback_share > 0.9, "{}", bounded.fallback_share);
        assert!(
            bounded.ns_per_op < unbounded.ns_per_op,
            "{} {}",
            bounded.ns_per_op,
            unbounded.ns_per_op
        );
        near(bounded.ns_per_op, with(Some(15)).ns_per_op, 10.0);
    }
    // With more tries than needed no thread takes it.
    assert_eq!(with(Some(1000)).fallback_share, 0.0);
}

#[test]
fn a_lock_that_protects_nothing_moves_one_line_less() {
    let machine = Machine::plain(topology(1, 8, 1));
    // Of locks with a storm of exchanges, the storm hides it.
    for workload in [Workload::LockMcs, Workload::LockQspinlock, Workload::LockTicket] {
        let with = Job::new(workload, 8);
        let without = Job {
            counter: false,
            ..with.clone()
        };
        let (with, without) = (run(&machine, &with).ns_per_op, run(&machine, &without).ns_per_op);
        assert!(without < with - TRANSFER / 2.0, "{workload}: {without} {with}");
    }
}

#[test]
fn a_job_says_only_that_it_has_no_counter() {
    let job = Job::new(Workload::LockMcs, 2);
    let text = |job: &Job| serde_json::to_string(job).unwrap();
    assert!(!text(&job).contains("counter"));
    let without = Job { counter: false, ..job };
    assert!(text(&without).contains("\"counter\":false"));
    assert_eq!(serde_json::from_str::<Job>(&text(&without)).unwrap(), without);
}
