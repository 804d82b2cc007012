//! A model of contended cache lines: how a primitive scales on a machine that is not at hand.
//!
//! A [`Machine`] says where its CPUs are, what it costs to move a line between them, and by which laws a line changes hands.
//! A [`Job`] says which [`Workload`] runs on it, on how many threads and under which policy. [`simulate`] plays that out as
//! discrete events, and the [`Outcome`] says together what is measured apart elsewhere: throughput, latency, fairness,
//! retries, line moves, and how often the lock behind the exchanges was taken.
//!
//! The same machine, job and seed give the same outcome to the last bit, on every machine.
//!
//! ```
//! use cyclewise_sim::{Job, Machine, Topology, Workload, simulate};
//!
//! let machine = Machine::plain(Topology { sockets: 1, clusters_per_socket: 1, cores_per_cluster: 4, threads_per_core: 1 });
//! let outcome = simulate(&machine, &Job::new(Workload::FetchAdd, 4)).unwrap();
//! assert!(outcome.ns_per_op > 0.0);
//! ```
#![forbid(unsafe_code)]

mod engine;
mod error;
pub mod fit;
pub mod machine;
mod outcome;
pub mod phase;
mod placement;
mod programs;
mod run;
mod stats;
pub mod validation;
mod workload;

pub use error::Error;
pub use machine::{Distance, Machine, Topology};
pub use outcome::{Latencies, Outcome};
pub use workload::{Job, Length, Placement, Relax, Workload};

/// Plays a job out on a machine.
///
/// # Errors
/// [`Error`] where the job does not fit the machine, or where nothing gets done under its laws.
pub fn simulate(machine: &Machine, job: &Job) -> Result<Outcome, Error> {
    run::run(machine, job)
}

/// As [`simulate`], and then lets every operation end and holds what is in the lines against what was done: counters
/// against operations, reference counts against references.
///
/// # Errors
/// As [`simulate`], and [`Error::NotConserved`] where an operation was lost or invented.
pub fn simulate_checked(machine: &Machine, job: &Job) -> Result<Outcome, Error> {
    run::run_checked(machine, job)
}
