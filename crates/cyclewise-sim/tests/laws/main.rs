//! The effect of each law of a line on a run, on machines with round numbers where it can be predicted.

mod arbiter;
mod bounds;
mod distance;
mod hold;
mod mechanisms;
mod programs;
mod steady;

use cyclewise_sim::machine::{Arbiter, Fill, FirstAccess, Hold, Queue, Rmw};
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
/// The part of a measured latency that is not the transfer.
const EXCHANGE: f64 = 6.0;
