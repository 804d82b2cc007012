//! Each mechanism: what changes when it is switched on, and that nothing else does it.

use super::*;

fn plain(cores: u32) -> Machine {
    let mut machine = Machine::plain(topology(1, cores, 1));
    machine.cost.jitter = 0.05;
    machine
}

/// The same machine with and without a mechanism.
fn both(machine: &Machine, switch: impl Fn(&mut Machine)) -> [Machine; 2] {
    let mut on = machine.clone();
    switch(&mut on);
    [machine.clone(), on]
}

fn buffered(machine: &mut Machine) {
    machine.mechanism.store_buffer = 32;
}

#[test]
fn a_buffered_store_costs_its_thread_nothing_and_an_atomic_waits_for_it() {
    let mut machine = plain(2);
    machine.cost.store_cycles = 30;
    let [without, with] = both(&machine, buffered);
    // A counter alone: with a buffer, a load gets the last store's value at once, and only full buffers wait.
    let percpu = |machine| on(machine, Workload::PercpuCounter, 1).ns_per_op;
    assert!(percpu(&with) > 9.0, "stores drain one after another: {}", percpu(&with));
    assert!(
        percpu(&with) < percpu(&without) - 1.5,
        "{} {}",
        percpu(&with),
        percpu(&without)
    );
    // A lock: the exchange pays for the stores of the section before.
    let lock = |machine| on(machine, Workload::LockTas, 1).ns_per_op;
    let stores = 2.0 * 10.0;
    assert!(lock(&with) > stores + RMW, "{}", lock(&with));
    machine.cost.store_cycles = 1;
    let [_, quick] = both(&machine, buffered);
    near(lock(&with) - lock(&quick), stores, 15.0);
}

#[test]
fn a_holder_that_pauses_others_takes_its_lock_again() {
    let skylake = Machine::preset("i7-6700hq").unwrap().machine().unwrap();
    let [with, without] = both(&skylake, |machine| machine.mechanism.store_buffer = 0);
    let job = Job {
        relax: Relax::Pause,
        ..Job::new(Workload::LockTtas, 4)
    };
    let (without, with) = (run(&without, &job), run(&with, &job));
    assert!(
        with.ns_per_op < 0.95 * without.ns_per_op,
        "{} {}",
        with.ns_per_op,
        without.ns_per_op
    );
    assert!(with.line_moves_per_op < without.line_moves_per_op);
}

/// The stores of several lines wait at the same time, so the buffer hides all transfers but one.
#[test]
fn later_stores_request_their_lines_early() {
    let [without, with] = both(&plain(8), buffered);
    let mcs = |machine| on(machine, Workload::LockMcs, 8).ns_per_op;
    assert!(mcs(&with) < mcs(&without), "{} {}", mcs(&with), mcs(&without));
}

#[test]
fn posted_additions_are_limited_by_the_home_and_others_by_the_way() {
    let mut machine = plain(8);
    machine.line.rmw = Rmw::Far {
        cycles: 30,
        only_posted: false,
    };
    buffered(&mut machine);
    let [waits, posts] = both(&machine, |machine| machine.mechanism.posted_rmws = 16);
    // There and back are 40 ns, and the home takes 10.
    near(on(&waits, Workload::FetchAdd, 2).ns_per_op, 26.0, 10.0);
    near(on(&posts, Workload::FetchAdd, 2).ns_per_op, 10.0, 3.0);
    near(on(&waits, Workload::FetchAdd, 8).ns_per_op, 10.0, 3.0);
    near(on(&posts, Workload::FetchAdd, 8).ns_per_op, 10.0, 3.0);
    // A thread alone gets the line.
    near(on(&posts, Workload::FetchAdd, 1).ns_per_op, RMW, 8.0);
}

#[test]
fn other_atomics_may_be_near_where_posted_ones_are_far() {
    let mut machine = plain(8);
    let near_law = machine.clone();
    machine.line.rmw = Rmw::Far {
        cycles: 30,
        only_posted: true,
    };
    (machine.mechanism.store_buffer, machine.mechanism.posted_rmws) = (16, 16);
    near(on(&machine, Workload::FetchAdd, 8).ns_per_op, 10.0, 3.0);
    let exchanges = |machine| on(machine, Workload::CasLoop, 8).ns_per_op;
    near(exchanges(&machine), exchanges(&near_law), 1.0);
}

#[test]
fn a_line_that_others_read_costs_its_writer() {
    let [without, with] = both(&plain(8), |machine| machine.mechanism.downgrade_cycles = 60);
    let job = |readers| Job {
        readers,
        ..Job::new(Workload::FetchAdd, 2)
    };
    near(run(&with, &job(0)).ns_per_op, run(&without, &job(0)).ns_per_op, 1.0);
    let (without, with) = (run(&without, &job(2)).ns_per_op, run(&with, &job(2)).ns_per_op);
    assert!(with > without + 3.0, "{with} {without}");
}

#[test]
fn a_fill_serves_all_threads_of_a_core_or_one() {
    let siblings = Machine::plain(topology(1, 4, 2));
    let [core, thread] = both(&siblings, |machine| machine.mechanism.fill = Fill::Thread);
    near(on(&core, Workload::FetchAdd, 8).ops_per_ownership, 2.0, 5.0);
    near(on(&thread, Workload::FetchAdd, 8).ops_per_ownership, 1.0, 5.0);
    // Without siblings there is nothing to share.
    let four = |machine| on(machine, Workload::FetchAdd, 4).ns_per_op;
    near(four(&thread), four(&core), 0.1);
}
