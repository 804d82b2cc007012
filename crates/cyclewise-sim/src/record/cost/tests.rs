//! Costs against the events that simulations have.

use super::*;
use crate::simulate;

fn job(workload: Workload, threads: u32, retry_limit: Option<u32>) -> Job {
    Job {
        retry_limit,
        parallel_cycles: 0,
        length: Length::operations(0, 400),
        ..Job::new(workload, threads)
    }
}

fn preset(name: &str) -> Machine {
    Machine::preset(name).unwrap().machine().unwrap()
}

/// The largest factor between a predicted share of all events and the true one, of points that are worth the name.
fn worst(cost: impl Fn(&Machine, &Job) -> u64) -> f64 {
    let mut points = Vec::new();
    for name in ["thunderx2", "kunpeng-920", "xeon-112"] {
        let machine = preset(name);
        for workload in [
            Workload::FetchAdd,
            Workload::CasLoop,
            Workload::Lockref,
            Workload::LockMcs,
            Workload::LockTicket,
            Workload::LockTtas,
        ] {
            for threads in [1, 28, 56] {
                for limit in [Some(5), None] {
                    let job = job(workload, threads, limit);
                    let events = simulate(&machine, &job).unwrap().events;
                    points.push((events as f64, cost(&machine, &job) as f64));
                }
            }
        }
    }
    let sum = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>();
    let (events, costs) = (sum(|p| p.0), sum(|p| p.1));
    // The others are short whatever is said of them.
    let long = points.iter().filter(|p| p.0 > events / points.len() as f64 / 2.0);
    long.map(|p| (p.0 / events) / (p.1 / costs))
        .map(|r| r.max(1.0 / r))
        .fold(1.0, f64::max)
}

#[test]
fn costs_are_near_the_events_and_operations_alone_are_not() {
    let found = worst(of);
    assert!(found < 2.0, "{found}");
    let operations = worst(|_, _| 1);
    assert!(operations > 2.5, "{operations}");
}

#[test]
fn costs_are_those_of_the_format() {
    let costs = |name: &str, threads| {
        let machine = preset(name);
        let all = Workload::ALL
            .iter()
            .map(|w| of(&machine, &job(*w, threads, Some(100))) / 400);
        all.collect::<Vec<_>>()
    };
    insta::assert_debug_snapshot!([
        ("thunderx2", 224, costs("thunderx2", 224)),
        ("thunderx2", 28, costs("thunderx2", 28)),
        ("kunpeng-920", 64, costs("kunpeng-920", 64)),
        ("xeon-112", 112, costs("xeon-112", 112)),
        ("xeon-112", 1, costs("xeon-112", 1)),
    ]);
}

#[test]
fn no_parameter_overflows_or_is_free() {
    let mut machine = preset("thunderx2");
    machine.ghz = 0.01;
    machine.latency.socket_ns = Some(1e6);
    for workload in Workload::ALL {
        for threads in [0, 1, 224, u32::MAX] {
            let job = Job {
                readers: u32::MAX,
                parallel_cycles: u32::MAX,
                length: Length::operations(u64::MAX, u64::MAX),
                ..job(*workload, threads, Some(u32::MAX))
            };
            assert!(of(&machine, &job) > 0);
        }
    }
}
