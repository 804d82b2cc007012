//! Fitted machines, and rejected measurements.

use super::*;
use crate::exam::{ALU_CYCLES, JITTER};
use crate::machine::{Hold, MAX_CPUS, Queue, Rmw};
use crate::{Job, Relax, Topology};
use std::sync::OnceLock;

fn measured(rows: &[(Workload, u32, f64)]) -> Measurements {
    Measurements {
        name: "test".to_owned(),
        about: "for tests".to_owned(),
        family: None,
        ghz: 2.5,
        isa: "x86-64".to_owned(),
        pause_cycles: 140,
        topology: Topology::new(1, 1, 4, 1),
        latency: Latency {
            hit_ns: 2.0,
            spread: 0.0,
            sibling_ns: None,
            cluster_ns: None,
            socket_ns: Some(30.0),
            remote_ns: None,
        },
        rows: rows
            .iter()
            .map(|&(workload, threads, ns_per_op)| MeasuredRow {
                workload,
                threads,
                relax: Relax::None,
                ns_per_op,
            })
            .collect(),
    }
}

const ADD: Workload = Workload::FetchAdd;

#[test]
fn one_thread_gives_the_costs() {
    let fit = fit(&measured(&[
        (ADD, 1, 8.0),
        (ADD, 2, 30.0),
        (ADD, 3, 30.0),
        (Workload::CasLoop, 1, 12.0),
    ]))
    .unwrap();
    assert_eq!(fit.machine.cost.rmw_cycles, 18);
    assert_eq!(fit.machine.cost.cas_cycles, 21);
    assert_eq!(fit.machine.cost.pause_cycles, 140, "as measured");
}

#[test]
fn a_pair_of_exclusives_has_its_own_cost() {
    let mut arm = measured(&[(ADD, 1, 8.0), (ADD, 3, 30.0), (Workload::LlSc, 1, 10.0)]);
    arm.isa = "aarch64".to_owned();
    // 25 cycles without a step of 2, by two.
    assert_eq!(fit(&arm).unwrap().machine.cost.ll_sc_cycles, 12);
    arm.rows.truncate(2);
    assert_eq!(
        fit(&arm).unwrap().machine.cost.ll_sc_cycles,
        9,
        "half of an addition's 18"
    );
}

#[test]
fn rows_much_shorter_than_transfers_need_the_line_to_stay() {
    let fit = fit(&measured(&[
        (ADD, 1, 8.0),
        (ADD, 2, 13.0),
        (ADD, 3, 13.0),
        (ADD, 4, 13.0),
    ]))
    .unwrap();
    let stays = fit.machine.line.hold != Hold::None || fit.machine.line.probe_share > 0.0;
    assert!(stays, "{:?}", fit.machine.line);
    for FittedRow {
        row,
        simulated_ns: seen,
        ..
    } in &fit.rows
    {
        assert!((seen / row.ns_per_op - 1.0).abs() < 0.25, "{row:?}: {seen}");
    }
}

/// Rows of a machine whose laws are known, by simulating it: its own one-thread rows give the costs.
fn rows_of(machine: &Machine, workloads: &[Workload]) -> Vec<(Workload, u32, f64)> {
    let all = workloads
        .iter()
        .flat_map(|&workload| (1..=4).map(move |threads| (workload, threads)));
    all.map(|(workload, threads)| {
        let outcome = simulate(machine, &Job::new(workload, threads)).unwrap();
        (workload, threads, outcome.ns_per_op)
    })
    .collect()
}

fn known() -> Machine {
    let mut machine = Machine::plain(measured(&[]).topology);
    machine.ghz = 2.5;
    machine.latency = measured(&[]).latency;
    machine.cost.jitter = JITTER;
    machine.cost.alu_cycles = ALU_CYCLES;
    machine.line.arbiter = Arbiter::Random;
    machine
}

/// Counters and locks: one lock, or three with CYCLEWISE_LONG.
fn workloads() -> &'static [Workload] {
    const ALL: [Workload; 5] = [
        ADD,
        Workload::CasLoop,
        Workload::LockTicket,
        Workload::LockTtas,
        Workload::LockMcs,
    ];
    &ALL[..if crate::is_long() { 5 } else { 3 }]
}

/// The fit of all of [`known`]'s rows, which several tests look at and which takes seconds.
fn of_known() -> &'static Fit {
    static FIT: OnceLock<Fit> = OnceLock::new();
    FIT.get_or_init(|| fit(&measured(&rows_of(&known(), workloads()))).unwrap())
}

#[test]
fn a_machine_is_found_again_from_its_own_rows() {
    let fit = of_known();
    assert_eq!(fit.machine.line.hold, Hold::None);
    assert_eq!(fit.machine.line.arbiter, Arbiter::Random, "{:?}", fit.laws);
    for FittedRow { row, simulated_ns, .. } in &fit.rows {
        let (seen, of) = (simulated_ns / row.ns_per_op, row.workload);
        assert!((seen - 1.0).abs() < 0.15, "{of}, {}: {seen}", row.threads);
    }
}

#[test]
fn rows_held_out_are_predicted_by_a_fit_without_them() {
    let honest = of_known();
    assert_eq!(
        honest.machine.held_out.len(),
        3 * workloads().len() - 1 + (workloads().len() - 2),
        "contended rows but the one that gives the scale, and locks with one thread"
    );
    let off = |fit: &Fit, workload: Workload| {
        let rows = fit
            .rows
            .iter()
            .filter(|row| row.row.workload == workload && row.row.threads > 1);
        let errors = rows.filter_map(|row| Some((row.held_out_ns? / row.row.ns_per_op).ln().abs()));
        errors.fold(0.0, f64::max)
    };
    for &workload in workloads() {
        assert!(off(honest, workload) < 0.3, "{workload}: {}", off(honest, workload));
    }
    // Rows that no machine with these laws has are not learned from themselves: held out, their error is all there.
    let lock = *workloads().last().unwrap();
    let mut odd = rows_of(&known(), workloads());
    for row in odd.iter_mut().filter(|row| row.0 == lock && row.1 > 1) {
        row.2 *= 4.0;
    }
    let odd = fit(&measured(&odd)).unwrap();
    assert!(off(&odd, lock) > 0.8, "{}", off(&odd, lock));
    let band = |fit: &Fit| crate::band::band(&fit.machine, lock, crate::exam::Reach::Socket).unwrap();
    let (narrow, wide) = (band(honest), band(&odd));
    assert!(wide.factor > narrow.factor * 1.5, "{narrow:?} {wide:?}");
}

#[test]
fn far_atomics_are_told() {
    let mut arm = known();
    arm.line.arbiter = Arbiter::Fifo;
    arm.line.ll_first_access = Some(crate::machine::FirstAccess::Exclusive);
    arm.line.ll_hold = Some(Hold::Fixed { cycles: 64 });
    arm.line.rmw = Rmw::Far {
        cycles: 24,
        only_posted: true,
    };
    (arm.mechanism.store_buffer, arm.mechanism.posted_rmws) = (16, 16);
    let rows = rows_of(&arm, &[ADD, Workload::CasLoop, Workload::LlSc]);
    let law = |isa: &str| {
        let mut rows = measured(&rows);
        rows.isa = isa.to_owned();
        let fit = fit(&rows).unwrap();
        let is_asked = fit.laws.iter().any(|law| law.key == "line.rmw");
        (fit.machine.line.rmw != Rmw::Near, is_asked)
    };
    assert_eq!(law("aarch64"), (true, true));
    // The same rows on an instruction set without far atomics are not asked.
    assert_eq!(law("x86-64"), (false, false));
}

#[test]
fn where_requests_wait_is_told_and_another_primitive_is_predicted() {
    // The second with CYCLEWISE_LONG alone, at the same time: these are the longest of the fits.
    let queues = [Queue::AtHome, Queue::AtOwner];
    let queues = if crate::is_long() { &queues[..] } else { &queues[..1] };
    std::thread::scope(|scope| {
        for &queue in queues {
            scope.spawn(move || {
                let mut truth = known();
                (truth.line.probe_share, truth.line.queue) = (0.3, queue);
                let fitted = fit(&measured(&rows_of(&truth, workloads()))).unwrap().machine;
                assert_eq!((fitted.line.probe_share, fitted.line.queue), (0.3, queue));
                for workload in [Workload::IncNotZero, Workload::LockrefUnbounded] {
                    let time = |machine: &Machine| simulate(machine, &Job::new(workload, 4)).unwrap().ns_per_op;
                    let off = time(&fitted) / time(&truth);
                    assert!((0.75..1.33).contains(&off), "{queue:?} {workload}: {off}");
                }
            });
        }
    });
}

#[test]
fn a_law_that_rows_do_not_show_is_named_as_unknown() {
    let additions = fit(&measured(&rows_of(&known(), &[ADD]))).unwrap();
    let is_told = |fit: &Fit, key| fit.laws.iter().find(|law| law.key == key).unwrap().is_told;
    assert_eq!(additions.machine.line.arbiter, Arbiter::Fifo);
    assert!(!is_told(&additions, "line.arbiter"));
    assert!(!is_told(&additions, "mechanism.store_buffer"), "no lock shows it");
    // The twin: exchanges and locks of three and four threads show it.
    assert!(is_told(of_known(), "line.arbiter"), "{:?}", of_known().laws);
}

#[test]
fn missing_and_bad_rows_are_errors() {
    let why = |rows: &[(Workload, u32, f64)]| fit(&measured(rows)).unwrap_err();
    assert!(why(&[]).contains("with 1 thread"));
    assert!(why(&[(ADD, 1, 8.0)]).contains("with 2 or more threads"));
    for bad in [
        (ADD, 0, 8.0),
        (ADD, 5, 8.0),
        (ADD, 2, 0.0),
        (ADD, 2, f64::NAN),
        (Workload::PercpuCounter, 2, 8.0),
    ] {
        assert!(why(&[(ADD, 1, 8.0), bad]).starts_with("row 2 is not usable"), "{bad:?}");
    }
    let two = why(&[(ADD, 1, 8.0), (ADD, 2, 30.0), (Workload::CasLoop, 2, 60.0)]);
    assert!(two.contains("the arbiter cannot be told"), "{two}");
    let mut odd = measured(&[(ADD, 1, 8.0), (ADD, 2, 30.0)]);
    odd.latency.socket_ns = Some(f64::NAN);
    let error = fit(&odd).unwrap_err();
    assert!(!error.contains('\n') && error.contains("latency.socket_ns"), "{error}");
    let mut large = measured(&[(ADD, 1, 8.0), (ADD, 2, 30.0)]);
    large.topology.cores_per_cluster = MAX_CPUS + 1;
    assert!(fit(&large).unwrap_err().contains("do not give a valid machine"));
}

#[test]
fn latencies_slightly_out_of_order_are_corrected_and_others_are_rejected() {
    let mut close = measured(&[(ADD, 1, 8.0), (ADD, 2, 12.0), (ADD, 4, 12.0)]);
    close.latency.sibling_ns = Some(25.0);
    close.latency.cluster_ns = Some(31.0);
    let machine = fit(&close).unwrap().machine;
    assert!(machine.to_toml().is_ok());
    let mut swapped = close.clone();
    swapped.latency.cluster_ns = Some(60.0);
    let error = fit(&swapped).unwrap_err();
    assert!(error.contains("latency.socket_ns"), "{error}");
}
