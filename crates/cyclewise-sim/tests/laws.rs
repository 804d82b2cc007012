//! What each law of a line does to a run, on machines of round numbers where it can be told beforehand.

use cyclewise_sim::machine::{Arbiter, Cap, FailedCas, FirstAccess, Hold, Home, Rmw};
use cyclewise_sim::{
    Error, Job, Length, Machine, Outcome, Placement, Relax, Topology, Workload, simulate, simulate_checked,
};

/// One core a cluster and a socket of so many, unless more is said.
fn topology(sockets: u32, cores: u32, threads: u32) -> Topology {
    Topology {
        sockets,
        clusters_per_socket: 1,
        cores_per_cluster: cores,
        threads_per_core: threads,
    }
}

fn run(machine: &Machine, job: &Job) -> Outcome {
    simulate_checked(machine, job).unwrap_or_else(|error| panic!("{} on {}: {error}", job.workload, job.threads))
}

fn on(machine: &Machine, workload: Workload, threads: u32) -> Outcome {
    run(machine, &Job::new(workload, threads))
}

/// Within so many percent.
#[track_caller]
fn near(found: f64, expected: f64, percent: f64) {
    let off = (found / expected - 1.0).abs() * 100.0;
    assert!(off <= percent, "{found} is {off:.1} % off {expected}");
}

/// A line goes 40 ns within a socket of the plain machine, and an addition takes 18 cycles, 6 ns.
const TRANSFER: f64 = 40.0;
const RMW: f64 = 6.0;
/// What a measured latency has besides the transfer.
const EXCHANGE: f64 = 6.0;

#[test]
fn one_thread_pays_for_its_instructions_alone() {
    let outcome = on(&Machine::plain(topology(1, 4, 1)), Workload::FetchAdd, 1);
    near(outcome.ns_per_op, RMW + 1.0 / 3.0, 1.0);
    assert_eq!((outcome.line_moves_per_op, outcome.jain), (0.0, 1.0));
}

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

#[test]
fn without_a_hold_everybody_fails_once_for_each_that_succeeds() {
    let machine = Machine::plain(topology(1, 28, 1));
    for threads in [4, 14, 28] {
        let outcome = on(&machine, Workload::CasLoop, threads);
        near(outcome.retries_per_success, f64::from(threads) - 1.0, 5.0);
    }
}

#[test]
fn a_hold_as_long_as_a_try_makes_the_second_succeed() {
    let mut machine = Machine::plain(topology(1, 28, 1));
    // A try is a step and an exchange; the second begins within the hold.
    machine.line.hold = Hold::Fixed { cycles: 25 };
    let outcome = on(&machine, Workload::CasLoop, 28);
    assert!(outcome.retries_per_success <= 1.0, "{}", outcome.retries_per_success);
    // One cycle less than it takes to begin the second is none at all.
    machine.line.hold = Hold::Fixed { cycles: 17 };
    let outcome = on(&machine, Workload::CasLoop, 28);
    near(outcome.retries_per_success, 27.0, 5.0);
}

#[test]
fn a_hold_is_learned_from_losses() {
    let mut machine = Machine::plain(topology(1, 28, 1));
    let adaptive = |max| Hold::Adaptive {
        cycles: 4,
        up: 4,
        down: 1,
        max,
    };
    machine.line.hold = adaptive(256);
    let learned = on(&machine, Workload::CasLoop, 28);
    assert!(learned.retries_per_success < 2.0, "{}", learned.retries_per_success);
    // Too little to learn: the most is shorter than a try.
    machine.line.hold = adaptive(4);
    let short = on(&machine, Workload::CasLoop, 28);
    near(short.retries_per_success, 27.0, 5.0);
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
    machine.line.arbiter = Arbiter::Nearest { cap: Cap::Count(40) };
    let capped = on(&machine, Workload::FetchAdd, 16);
    machine.line.arbiter = Arbiter::Nearest {
        cap: Cap::Cycles(u32::MAX),
    };
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
fn a_cap_by_age_bounds_the_wait() {
    let mut machine = Machine::plain(topology(2, 8, 1));
    machine.line.arbiter = Arbiter::Nearest { cap: Cap::Cycles(6000) };
    let outcome = on(&machine, Workload::FetchAdd, 16);
    // 2000 ns, and then those that are as old.
    assert!(
        (2000.0..4000.0).contains(&outcome.longest_wait_ns),
        "{}",
        outcome.longest_wait_ns
    );
    assert!(outcome.jain > 0.9, "{}", outcome.jain);
}

#[test]
fn distance_is_what_a_transfer_costs() {
    let mut machine = Machine::plain(Topology {
        sockets: 2,
        clusters_per_socket: 2,
        cores_per_cluster: 2,
        threads_per_core: 2,
    });
    machine.latency.cluster_ns = Some(20.0 + EXCHANGE);
    let two = |placement| Job {
        placement,
        ..Job::new(Workload::FetchAdd, 2)
    };
    // CPUs 0 and 1 are siblings, 0 and 2 share a cluster, 0 and 8 are in different sockets.
    let sibling = run(&machine, &two(Placement::CompactSmt));
    assert_eq!(sibling.line_moves_per_op, 0.0);
    near(sibling.ns_per_op, RMW + 8.0, 10.0);
    near(run(&machine, &two(Placement::Compact)).ns_per_op, RMW + 20.0, 1.0);
    near(run(&machine, &two(Placement::Spread)).ns_per_op, RMW + 120.0, 1.0);
    machine.topology.cores_per_cluster = 1;
    near(run(&machine, &two(Placement::Compact)).ns_per_op, RMW + 40.0, 1.0);
}

#[test]
fn requests_of_another_socket_pass_through_the_home() {
    let mut machine = Machine::plain(topology(2, 4, 1));
    let local = on(&machine, Workload::FetchAdd, 4);
    machine.line.home = Home::Socket(1);
    let remote = on(&machine, Workload::FetchAdd, 4);
    near(local.ns_per_op, RMW + 40.0, 1.0);
    near(remote.ns_per_op, RMW + 120.0, 1.0);
}

#[test]
fn far_atomics_do_not_move_the_line() {
    let mut machine = Machine::plain(topology(1, 64, 1));
    machine.line.rmw = Rmw::Far { cycles: 30 };
    let far = on(&machine, Workload::FetchAdd, 64);
    near(far.ns_per_op, 10.0, 1.0);
    assert_eq!(far.line_moves_per_op, 0.0);
    machine.latency.socket_ns = Some(5.0 * TRANSFER);
    near(on(&machine, Workload::FetchAdd, 64).ns_per_op, 10.0, 1.0);
    // Who is alone has the line.
    near(on(&machine, Workload::FetchAdd, 1).ns_per_op, RMW + 1.0 / 3.0, 1.0);
}

#[test]
fn a_load_that_takes_the_line_saves_the_upgrade_where_it_is_held() {
    let mut machine = Machine::plain(topology(1, 8, 1));
    machine.line.hold = Hold::Fixed { cycles: 40 };
    let shared = on(&machine, Workload::CasLoop, 8);
    machine.line.first_access = FirstAccess::Exclusive;
    let exclusive = on(&machine, Workload::CasLoop, 8);
    assert_eq!(exclusive.retries_per_success, 0.0);
    assert!(
        exclusive.ns_per_op < 0.8 * shared.ns_per_op,
        "{} {}",
        exclusive.ns_per_op,
        shared.ns_per_op
    );
}

#[test]
fn a_failed_exchange_that_stays_shared_leaves_the_line_where_it_is() {
    let mut machine = Machine::plain(topology(1, 16, 1));
    let takes = on(&machine, Workload::CasLoop, 16);
    machine.line.failed_cas = FailedCas::StaysShared;
    let stays = on(&machine, Workload::CasLoop, 16);
    near(takes.ops_per_ownership, 1.0 / 16.0, 10.0);
    assert!(
        stays.ops_per_ownership > 4.0 * takes.ops_per_ownership,
        "{}",
        stays.ops_per_ownership
    );
}

/// LL/SC that takes the line and keeps it for the store is linear; exchanges without a hold are quadratic.
#[test]
fn reservations_scale_where_exchanges_do_not() {
    let mut machine = Machine::plain(topology(1, 48, 1));
    machine.line.ll_first_access = Some(FirstAccess::Exclusive);
    machine.line.ll_hold = Some(Hold::Fixed { cycles: 20 });
    let wait = |workload, threads| on(&machine, workload, threads).latency.p50_ns;
    near(wait(Workload::LlSc, 48) / wait(Workload::LlSc, 12), 4.0, 10.0);
    near(wait(Workload::CasLoop, 48) / wait(Workload::CasLoop, 12), 16.0, 20.0);
    let ratio = wait(Workload::CasLoop, 48) / wait(Workload::LlSc, 48);
    assert!(ratio > 20.0, "{ratio}");
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
    assert!(with(8) > 1.3 * with(0), "{} {}", with(8), with(0));
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
fn a_request_that_has_waited_has_its_way_behind_it() {
    let mut machine = Machine::plain(topology(1, 8, 1));
    machine.line.probe_share = 0.5;
    // Seven always wait: what is left is the line's half of the way.
    near(on(&machine, Workload::FetchAdd, 8).ns_per_op, TRANSFER / 2.0 + RMW, 1.0);
    // Nobody waits for long: of a ticket lock's handing on, the whole way.
    let queued = on(&machine, Workload::LockTicket, 2).ns_per_op;
    machine.line.probe_share = 0.0;
    let whole = on(&machine, Workload::LockTicket, 2).ns_per_op;
    assert!(queued > 0.6 * whole, "{queued} of {whole}");
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
            length: Length::Operations {
                warm_up: 0,
                measured: 5_000,
            },
            ..Job::new(Workload::Lockref, 28)
        };
        run(&machine(arbiter), &job).fallback_share
    };
    let rounds = Arbiter::Batch { stay: 64 };
    let outcome = on(&machine(rounds), Workload::CasLoop, 28);
    near(outcome.retries_per_success, 26.0, 10.0);
    // Nobody ever fails a hundred times in turn; by chance somebody does.
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
    // With tries to spare nobody takes it.
    assert_eq!(with(Some(1000)).fallback_share, 0.0);
}

#[test]
fn the_seed_is_what_differs() {
    let mut machine = Machine::plain(topology(1, 8, 2));
    machine.cost.jitter = 0.3;
    let with = |seed| {
        let job = Job {
            seed,
            ..Job::new(Workload::CasLoop, 16)
        };
        serde_json::to_string(&run(&machine, &job)).unwrap()
    };
    assert_eq!(with(1), with(1));
    assert_ne!(with(1), with(2));
}

#[test]
fn four_thousand_cpus_run() {
    let machine = Machine::plain(Topology {
        sockets: 8,
        clusters_per_socket: 16,
        cores_per_cluster: 16,
        threads_per_core: 2,
    });
    for workload in [Workload::FetchAdd, Workload::LockMcs, Workload::PercpuCounter] {
        let outcome = simulate(&machine, &Job::new(workload, 4096)).unwrap();
        assert!(outcome.ops >= 40_960, "{workload}");
    }
    let mut nearest = machine.clone();
    nearest.line.arbiter = Arbiter::Nearest { cap: Cap::Count(64) };
    let job = Job {
        retry_limit: Some(15),
        ..Job::new(Workload::Lockref, 4096)
    };
    assert_eq!(simulate(&nearest, &job).unwrap().ops, 40_960);
}

#[test]
fn what_no_machine_has_is_refused_and_never_a_panic() {
    let job = Job::new(Workload::Lockref, 3);
    let refused = |change: fn(&mut Machine)| {
        let mut machine = Machine::plain(topology(1, 4, 1));
        change(&mut machine);
        simulate(&machine, &job).expect_err("refused").to_string()
    };
    for change in [
        (|machine| machine.ghz = 0.0) as fn(&mut Machine),
        |machine| machine.ghz = f64::NAN,
        |machine| machine.latency.hit_ns = -1.0,
        |machine| machine.latency.remote_ns = Some(f64::INFINITY),
        |machine| machine.line.probe_share = 1.5,
        |machine| machine.cost.jitter = f64::NAN,
    ] {
        assert!(refused(change).starts_with("the machine's "));
    }
    for change in [
        (|machine| machine.topology.sockets = 0) as fn(&mut Machine),
        |machine| machine.topology.threads_per_core = 0,
        |machine| machine.topology.cores_per_cluster = 2,
    ] {
        assert!(refused(change).contains("ask for fewer"));
    }
    let huge = Machine::plain(topology(u32::MAX, u32::MAX, 2));
    assert!(simulate(&huge, &job).is_err());
    let large = Machine::plain(topology(8, 4096, 1));
    assert!(simulate(&large, &Job::new(Workload::FetchAdd, 16_385)).is_err());
}

/// Every cost the largest that a file may say, and every cost nothing.
#[test]
fn extreme_costs_run() {
    for cycles in [0, 1_000_000] {
        let mut machine = Machine::plain(topology(1, 4, 1));
        let cost = &mut machine.cost;
        (cost.alu_cycles, cost.store_cycles, cost.rmw_cycles) = (cycles, cycles, cycles);
        (cost.cas_cycles, cost.ll_sc_cycles, cost.pause_cycles) = (cycles, cycles, cycles);
        (cost.read_cycles, cost.invalidate_cycles) = (cycles, cycles);
        machine.line.hold = Hold::Adaptive {
            cycles,
            up: u32::MAX,
            down: 1,
            max: u32::MAX,
        };
        if cycles == 0 {
            (machine.latency.hit_ns, machine.latency.socket_ns) = (0.0, Some(0.0));
        }
        for workload in [
            Workload::FetchAdd,
            Workload::CasLoop,
            Workload::LockQueued,
            Workload::OpenReadClose,
        ] {
            run(&machine, &Job::new(workload, 4));
        }
    }
}

#[test]
fn a_length_of_time_is_kept_and_none_is_refused() {
    let machine = Machine::plain(topology(1, 8, 1));
    let with = |length| {
        let job = Job {
            length,
            ..Job::new(Workload::FetchAdd, 8)
        };
        simulate_checked(&machine, &job)
    };
    for warm_up in [0, 5_000] {
        let measured = 100_000;
        let outcome = with(Length::Nanoseconds { warm_up, measured }).unwrap();
        assert_eq!(outcome.elapsed_ns, 100_000.0);
        near(outcome.ns_per_op, TRANSFER + RMW, 2.0);
    }
    for warm_up in [0, 100] {
        let outcome = with(Length::Operations { warm_up, measured: 777 }).unwrap();
        assert_eq!(outcome.ops, 777);
    }
    let none = [
        Length::Nanoseconds {
            warm_up: 9,
            measured: 0,
        },
        Length::Operations {
            warm_up: 9,
            measured: 0,
        },
    ];
    for length in none {
        assert_eq!(with(length), Err(Error::NoLength));
    }
}
