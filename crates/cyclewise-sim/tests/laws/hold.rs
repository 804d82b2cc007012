//! How long a line is held, and for which access it was requested.

use super::*;

#[test]
fn a_hold_as_long_as_a_try_makes_the_second_succeed() {
    let mut machine = Machine::plain(topology(1, 28, 1));
    // Without a hold everybody fails once for each that succeeds.
    near(on(&machine, Workload::CasLoop, 28).retries_per_success, 27.0, 5.0);
    // A try is a step and an exchange; the second begins within the hold.
    machine.line.hold = Hold::Fixed { cycles: 25 };
    let outcome = on(&machine, Workload::CasLoop, 28);
    assert!(outcome.retries_per_success <= 1.0, "{}", outcome.retries_per_success);
    // A hold one cycle too short to begin the second has no effect.
    machine.line.hold = Hold::Fixed { cycles: 17 };
    let outcome = on(&machine, Workload::CasLoop, 28);
    near(outcome.retries_per_success, 27.0, 5.0);
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
fn while_a_request_is_on_its_way_from_the_home_the_owner_works_the_longer_the_farther_it_is() {
    let mut machine = Machine::plain(topology(1, 8, 1));
    machine.line.probe_share = 0.5;
    machine.line.queue = Queue::AtHome;
    let near_ones = on(&machine, Workload::FetchAdd, 8);
    // In half of the way, 20 ns, there is time for three additions and their steps, and a fourth that has begun is finished.
    assert!(
        (3.0..=4.5).contains(&near_ones.ops_per_ownership),
        "{}",
        near_ones.ops_per_ownership
    );
    // Between sockets it is three times as far.
    let mut far = Machine::plain(topology(8, 1, 1));
    far.line = machine.line;
    let far_ones = on(&far, Workload::FetchAdd, 8);
    assert!(
        far_ones.ops_per_ownership > 2.0 * near_ones.ops_per_ownership,
        "{}",
        far_ones.ops_per_ownership
    );
    // The twin: at the owner, a request that has waited is there at once.
    machine.line.queue = Queue::AtOwner;
    near(on(&machine, Workload::FetchAdd, 8).ops_per_ownership, 1.0, 5.0);
}
