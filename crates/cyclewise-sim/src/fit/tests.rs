//! Fitted machines, and rejected measurements.

use super::*;
use crate::machine::{Arbiter, MAX_CPUS};

fn measured(rows: &[(Workload, u32, f64)]) -> Measurements {
    Measurements {
        name: "test".to_owned(),
        about: "for tests".to_owned(),
        ghz: 2.5,
        isa: Isa::X86 { pause_cycles: 140 },
        topology: Topology {
            sockets: 1,
            clusters_per_socket: 1,
            cores_per_cluster: 4,
            threads_per_core: 1,
        },
        latency: Latency {
            hit_ns: 2.0,
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
                placement: Placement::Compact,
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
        (Workload::CasLoop, 1, 12.0),
    ]))
    .unwrap();
    assert_eq!(fit.machine.cost.rmw_cycles, 18);
    assert_eq!(fit.machine.cost.cas_cycles, 21);
    assert!(fit.simulated > 0);
}

#[test]
fn the_same_figures_give_the_same_machine() {
    let measured = measured(&[(ADD, 1, 8.0), (ADD, 2, 31.0), (ADD, 4, 33.0)]);
    let (a, b) = (fit(&measured).unwrap(), fit(&measured).unwrap());
    assert_eq!(a, b);
    assert_eq!(
        Machine::parse(&a.machine.to_toml().unwrap(), "again").unwrap(),
        a.machine
    );
}

#[test]
fn rows_as_long_as_transfers_need_no_special_law() {
    let fit = fit(&measured(&[
        (ADD, 1, 8.0),
        (ADD, 2, 30.5),
        (ADD, 3, 30.5),
        (ADD, 4, 30.5),
    ]))
    .unwrap();
    assert_eq!(fit.machine.line.hold, Hold::None);
    assert_eq!(fit.machine.line.arbiter, Arbiter::Fifo);
    assert!((0.9..=1.1).contains(&fit.scale), "{}", fit.scale);
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
    for (row, seen) in &fit.rows {
        assert!((seen / row.ns_per_op - 1.0).abs() < 0.25, "{row:?}: {seen}");
    }
}

#[test]
fn a_machine_is_found_again_from_its_own_rows() {
    let mut machine = Machine::plain(Topology {
        sockets: 1,
        clusters_per_socket: 1,
        cores_per_cluster: 4,
        threads_per_core: 1,
    });
    machine.ghz = 2.5;
    machine.latency = measured(&[]).latency;
    machine.cost.jitter = JITTER;
    machine.cost.alu_cycles = ALU_CYCLES;
    machine.line.arbiter = Arbiter::Random;
    let workloads = [ADD, Workload::CasLoop];
    let rows: Vec<_> = workloads
        .iter()
        .flat_map(|&workload| (1..=4).map(move |threads| (workload, threads)))
        .map(|(workload, threads)| (workload, threads, simulate(&machine, &Job::new(workload, threads))))
        .map(|(workload, threads, outcome)| (workload, threads, outcome.unwrap().ns_per_op))
        .collect();
    let fit = fit(&measured(&rows)).unwrap();
    assert_eq!(fit.machine.line.hold, Hold::None);
    assert_eq!(fit.machine.line.arbiter, Arbiter::Random);
    for (row, seen) in &fit.rows {
        assert!((seen / row.ns_per_op - 1.0).abs() < 0.1, "{row:?}: {seen}");
    }
}

#[test]
fn missing_and_bad_rows_are_errors() {
    assert_eq!(fit(&measured(&[])), Err(FitError::NoSingle));
    assert_eq!(fit(&measured(&[(ADD, 1, 8.0)])), Err(FitError::NoContended));
    for bad in [
        (ADD, 0, 8.0),
        (ADD, 5, 8.0),
        (ADD, 2, 0.0),
        (ADD, 2, f64::NAN),
        (Workload::LockTas, 2, 8.0),
    ] {
        let rows = [(ADD, 1, 8.0), bad];
        assert_eq!(fit(&measured(&rows)), Err(FitError::BadRow { row: 2 }), "{bad:?}");
    }
    let mut odd = measured(&[(ADD, 1, 8.0), (ADD, 2, 30.0)]);
    odd.latency.socket_ns = Some(f64::NAN);
    let error = fit(&odd).unwrap_err().to_string();
    assert!(!error.contains('\n') && error.contains("latency.socket_ns"), "{error}");
    let mut large = measured(&[(ADD, 1, 8.0), (ADD, 2, 30.0)]);
    large.topology.cores_per_cluster = MAX_CPUS + 1;
    assert!(matches!(fit(&large), Err(FitError::Machine(_))));
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
    let error = fit(&swapped).unwrap_err().to_string();
    assert!(error.contains("latency.socket_ns"), "{error}");
}
