//! Lengths, and machines that are large, extreme or impossible.

use super::*;

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
        assert!(refused(change).contains("use fewer"));
    }
    let huge = Machine::plain(topology(u32::MAX, u32::MAX, 2));
    assert!(simulate(&huge, &job).is_err());
    let large = Machine::plain(topology(8, 4096, 1));
    assert!(simulate(&large, &Job::new(Workload::FetchAdd, 16_385)).is_err());
}

/// Every cost at the maximum that a file may specify, and every cost zero.
#[test]
fn extreme_costs_run() {
    for cycles in [0, 1_000_000] {
        let mut machine = Machine::plain(topology(1, 4, 1));
        let cost = &mut machine.cost;
        (cost.alu_cycles, cost.store_cycles, cost.rmw_cycles) = (cycles, cycles, cycles);
        (cost.cas_cycles, cost.ll_sc_cycles, cost.pause_cycles) = (cycles, cycles, cycles);
        (cost.read_cycles, cost.invalidate_cycles) = (cycles, cycles);
        machine.line.hold = Hold::Fixed { cycles };
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
fn a_length_is_kept_and_none_is_refused() {
    let machine = Machine::plain(topology(1, 8, 1));
    let with = |length| {
        let job = Job {
            length,
            ..Job::new(Workload::FetchAdd, 8)
        };
        simulate_checked(&machine, &job)
    };
    for warm_up in [0, 100] {
        let outcome = with(Length::Operations { warm_up, measured: 777 }).unwrap();
        assert_eq!(outcome.ops, 777);
    }
    let none = Length::operations(9, 0);
    assert_eq!(with(none), Err(Error::NoLength));
}

#[test]
fn time_that_would_overrun_its_bits_is_refused() {
    let mut machine = Machine::plain(topology(1, 2, 1));
    machine.ghz = 0.01;
    for threads in [1, 2] {
        let job = Job {
            critical_cycles: u32::MAX,
            parallel_cycles: u32::MAX,
            length: Length::operations(0, 1_000_000),
            ..Job::new(Workload::LockMcs, threads)
        };
        assert_eq!(simulate(&machine, &job), Err(Error::TooLong));
    }
    // Days are still accepted.
    let job = Job {
        critical_cycles: u32::MAX,
        ..Job::new(Workload::LockMcs, 2)
    };
    assert!(simulate(&machine, &job).unwrap().elapsed_ns > 4e14);
}
