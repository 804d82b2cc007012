//! Differences between the programs, on a machine with round numbers: first come first served, no hold, a little jitter.

use cyclewise_sim::{Job, Machine, Outcome, Placement, Relax, Topology, Workload, simulate_checked};

fn machine() -> Machine {
    let mut machine = Machine::plain(Topology::new(2, 1, 32, 1));
    machine.cost.jitter = 0.1;
    machine
}

fn run(job: &Job) -> Outcome {
    simulate_checked(&machine(), job).unwrap_or_else(|error| panic!("{} on {}: {error}", job.workload, job.threads))
}

fn on(workload: Workload, threads: u32) -> Outcome {
    run(&Job::new(workload, threads))
}

#[test]
fn one_thread_alone_never_tries_in_vain_nor_takes_a_lock_without_need() {
    for &workload in Workload::ALL {
        let job = Job {
            retry_limit: Some(1),
            ..Job::new(workload, 1)
        };
        let outcome = run(&job);
        assert_eq!(outcome.retries_per_success, 0.0, "{workload}");
        let always = match workload {
            Workload::LockrefLocked | Workload::OpenReadCloseQueued | Workload::OpenReadCloseThreadsQueued => 1.0,
            _ => 0.0,
        };
        assert_eq!(outcome.fallback_share, always, "{workload}");
        assert_eq!(outcome.line_moves_per_op, 0.0, "{workload}");
    }
}

#[test]
fn what_does_not_loop_never_tries_in_vain() {
    for workload in [
        Workload::FetchAdd,
        Workload::Refcount,
        Workload::Rcuref,
        Workload::PercpuCounter,
    ] {
        assert_eq!(on(workload, 32).retries_per_success, 0.0, "{workload}");
    }
}

#[test]
fn a_reference_without_a_loop_is_faster_under_contention_and_no_slower_alone() {
    let ratio = |threads| on(Workload::IncNotZero, threads).ns_per_op / on(Workload::Rcuref, threads).ns_per_op;
    assert!(ratio(1) >= 1.0, "{}", ratio(1));
    assert!(ratio(32) > 2.0, "{}", ratio(32));
}

#[test]
fn queues_are_fair() {
    for workload in [
        Workload::LockMcs,
        Workload::LockQspinlock,
        Workload::LockTicket,
        Workload::LockrefLocked,
    ] {
        let outcome = on(workload, 32);
        assert!(outcome.jain > 0.99, "{workload}: {}", outcome.jain);
    }
}

/// Handing on an MCS lock concerns one waiter; a ticket lock's release is seen by all, and their copies are taken back.
#[test]
fn waiting_on_lines_of_their_own_does_not_get_slower_with_the_waiters() {
    let growth = |workload| on(workload, 32).ns_per_op / on(workload, 4).ns_per_op;
    let (mcs, ticket) = (growth(Workload::LockMcs), growth(Workload::LockTicket));
    assert!(mcs < 1.5, "{mcs}");
    assert!(ticket > mcs, "{ticket} {mcs}");
}

/// The library's lock lets newcomers pass for a while, which affects its throughput and fairness.
#[test]
fn newcomers_pass_the_library_s_queue_for_a_while() {
    let (library, kernel) = (on(Workload::LockQueued, 16), on(Workload::LockQspinlock, 16));
    assert!(
        library.ns_per_op < kernel.ns_per_op,
        "{} {}",
        library.ns_per_op,
        kernel.ns_per_op
    );
    assert!(library.jain < kernel.jain, "{} {}", library.jain, kernel.jain);
}

#[test]
fn who_exchanges_without_looking_disturbs_the_holder() {
    let with = |workload| {
        let job = Job {
            critical_cycles: 6000,
            relax: Relax::Pause,
            ..Job::new(workload, 8)
        };
        run(&job).line_moves_per_op
    };
    let (blind, looks) = (with(Workload::LockTas), with(Workload::LockTtas));
    assert!(looks < blind, "{looks} {blind}");
}

#[test]
fn a_lockref_falls_back_when_its_tries_are_spent_and_the_library_s_comes_back() {
    let crowd = |workload| {
        let job = Job {
            retry_limit: Some(8),
            placement: Placement::Spread,
            ..Job::new(workload, 32)
        };
        run(&job)
    };
    assert_eq!(crowd(Workload::LockrefUnbounded).fallback_share, 0.0);
    assert!(crowd(Workload::Lockref).fallback_share > 0.9);
    assert!(crowd(Workload::LockrefAdaptive).fallback_share > 0.5);
    // With work between operations the same number of threads does not need the lock.
    for workload in [Workload::Lockref, Workload::LockrefAdaptive] {
        let job = Job {
            retry_limit: Some(8),
            parallel_cycles: 60_000,
            ..Job::new(workload, 32)
        };
        assert!(run(&job).fallback_share < 0.1, "{workload}");
    }
}

#[test]
fn critical_and_parallel_work_take_their_time() {
    for &workload in Workload::ALL {
        // Some have parallel work of their own.
        let none = Job {
            parallel_cycles: 0,
            ..Job::new(workload, 1)
        };
        let plain = run(&none).ns_per_op;
        let with = |critical_cycles, parallel_cycles| {
            let job = Job {
                critical_cycles,
                parallel_cycles,
                ..Job::new(workload, 1)
            };
            run(&job).ns_per_op - plain
        };
        // 3000 cycles are a microsecond.
        let parallel = with(0, 3000);
        assert!((950.0..1050.0).contains(&parallel), "{workload}: {parallel}");
        let critical = with(3000, 0);
        let has_none = critical.abs() < 5.0;
        // Open and close each take the table's lock.
        assert!(
            has_none || (900.0..2100.0).contains(&critical),
            "{workload}: {critical}"
        );
        let counts = ["fetch-add", "cas-loop", "ll-sc", "percpu-counter"];
        assert_eq!(has_none, counts.contains(&workload.name()), "{workload}: {critical}");
    }
}
