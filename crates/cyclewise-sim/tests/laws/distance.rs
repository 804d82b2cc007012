//! The cost of distance, and operations that do not move the line.

use super::*;

#[test]
fn distance_is_what_a_transfer_costs() {
    let mut machine = Machine::plain(Topology::new(2, 2, 2, 2));
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
fn far_atomics_do_not_move_the_line() {
    let mut machine = Machine::plain(topology(1, 64, 1));
    machine.line.rmw = Rmw::Far {
        cycles: 30,
        only_posted: false,
    };
    let far = on(&machine, Workload::FetchAdd, 64);
    near(far.ns_per_op, 10.0, 1.0);
    assert_eq!(far.line_moves_per_op, 0.0);
    machine.latency.socket_ns = Some(5.0 * TRANSFER);
    near(on(&machine, Workload::FetchAdd, 64).ns_per_op, 10.0, 1.0);
    // A thread alone owns the line.
    near(on(&machine, Workload::FetchAdd, 1).ns_per_op, RMW + 1.0 / 3.0, 1.0);
}
