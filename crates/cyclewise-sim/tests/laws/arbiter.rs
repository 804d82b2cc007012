//! The arbiter: which request is next.

use super::*;

#[test]
fn first_come_first_served_is_a_transfer_and_an_addition_each() {
    let machine = Machine::plain(topology(1, 64, 1));
    for threads in [2, 4, 16, 64] {
        let outcome = on(&machine, Workload::FetchAdd, threads);
        near(outcome.ns_per_op, TRANSFER + RMW, 1.0);
        near(outcome.latency.p50_ns, (TRANSFER + RMW) * f64::from(threads), 3.0);
        near(outcome.jain, 1.0, 1.0);
        near(outcome.ops_per_ownership, 1.0, 1.0);
    }
}

/// Somebody has the value of the last success at each draw with a chance that grows, as in the riddle of the birthdays.
#[test]
fn a_random_arbiter_needs_about_the_root_of_the_threads() {
    let mut machine = Machine::plain(topology(1, 112, 1));
    machine.line.arbiter = Arbiter::Random;
    let outcome = on(&machine, Workload::CasLoop, 112);
    let birthday = (std::f64::consts::PI * 112.0 / 2.0).sqrt();
    near(outcome.retries_per_success, birthday, 25.0);
}

#[test]
fn the_nearest_come_first_up_to_the_cap() {
    let mut machine = Machine::plain(topology(2, 8, 1));
    let fifo = on(&machine, Workload::FetchAdd, 16);
    machine.line.arbiter = Arbiter::Nearest { cap: 40 };
    let capped = on(&machine, Workload::FetchAdd, 16);
    machine.line.arbiter = Arbiter::Nearest { cap: u32::MAX };
    let uncapped = on(&machine, Workload::FetchAdd, 16);
    // Each of 41 transfers is within the socket but one.
    near(capped.ns_per_op, RMW + (40.0 * TRANSFER + 120.0) / 41.0, 3.0);
    near(uncapped.ns_per_op, RMW + TRANSFER, 3.0);
    assert!(fifo.ns_per_op > 48.0, "{}", fifo.ns_per_op);
    // Without a cap the other socket waits for ever.
    near(uncapped.jain, 0.5, 5.0);
    assert!(capped.jain > 0.9, "{}", capped.jain);
    assert!(uncapped.longest_wait_ns > 0.9 * uncapped.elapsed_ns);
}

#[test]
fn in_rounds_everybody_fails_once_for_each_that_succeeds_and_some_for_long() {
    let machine = |arbiter| {
        let mut machine = Machine::plain(topology(1, 28, 1));
        machine.line.arbiter = arbiter;
        machine
    };
    let fallbacks = |arbiter| {
        let job = Job {
            retry_limit: Some(100),
            length: Length::operations(0, 5_000),
            ..Job::new(Workload::Lockref, 28)
        };
        run(&machine(arbiter), &job).fallback_share
    };
    let rounds = Arbiter::Batch { stay: 64 };
    let outcome = on(&machine(rounds), Workload::CasLoop, 28);
    near(outcome.retries_per_success, 26.0, 10.0);
    // First come first served, no thread fails a hundred times in a row; in rounds some do by chance.
    assert_eq!(fallbacks(Arbiter::Fifo), 0.0);
    assert!(fallbacks(rounds) > 0.5, "{}", fallbacks(rounds));
}

#[test]
fn a_round_stays_in_its_socket_so_long() {
    let mut machine = Machine::plain(topology(2, 8, 1));
    machine.line.arbiter = Arbiter::Batch { stay: 40 };
    let outcome = on(&machine, Workload::FetchAdd, 16);
    // Each of 41 transfers is within the socket but one.
    near(outcome.ns_per_op, RMW + (40.0 * TRANSFER + 120.0) / 41.0, 3.0);
    assert!(outcome.jain > 0.9, "{}", outcome.jain);
}
