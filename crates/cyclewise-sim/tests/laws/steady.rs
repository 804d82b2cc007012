//! Runs without a fixed length: they end when throughput is stationary, and say so.

use super::*;
use cyclewise_sim::Start;

#[test]
fn a_run_says_how_long_it_warmed_up() {
    let outcome = on(&Machine::plain(topology(1, 8, 1)), Workload::FetchAdd, 8);
    assert_eq!(outcome.stationary, Some(true));
    assert!(outcome.warm_up_ops >= 500 && outcome.ops >= 1_000, "{outcome:?}");
    let job = Job {
        length: Length::operations(70, 300),
        ..Job::new(Workload::FetchAdd, 8)
    };
    let fixed = run(&Machine::plain(topology(1, 8, 1)), &job);
    assert_eq!((fixed.stationary, fixed.warm_up_ops, fixed.ops), (None, 70, 300));
}

/// All threads wait at the first line before one of them has it.
#[test]
fn a_crowd_gathers_before_the_first_line() {
    let machine = Machine::plain(topology(1, 16, 1));
    let with = |start| {
        let job = Job {
            start,
            parallel_cycles: 3_000_000,
            length: Length::operations(0, 16),
            ..Job::new(Workload::FetchAdd, 16)
        };
        run(&machine, &job)
    };
    // The last of a crowd waits for all others.
    near(with(Start::Crowd).latency.max_ns, 16.0 * (TRANSFER + RMW), 10.0);
    assert!(with(Start::Scattered).latency.max_ns < 10.0 * (TRANSFER + RMW));
}

#[test]
fn a_line_that_no_thread_shares_has_no_crowd() {
    let job = Job {
        start: Start::Crowd,
        ..Job::new(Workload::PercpuCounter, 8)
    };
    assert_eq!(run(&Machine::plain(topology(1, 8, 1)), &job).stationary, Some(true));
}
