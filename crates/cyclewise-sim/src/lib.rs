//! A model of contended cache lines: simulates how a primitive scales on other machines.
//!
//! A [`Machine`] describes where its CPUs are, the cost of moving a line between them, and the laws of line ownership. A [`Job`]
//! describes which [`Workload`] runs on it, on how many threads and with which policy. [`simulate`] runs the job as discrete
//! events; the [`Outcome`] has throughput, latency, fairness, retries, line moves, and the share of operations that took a
//! fallback lock.
//!
//! The same machine, job and seed give the same outcome to the last bit on every host.
//!
//! ```
//! use cyclewise_sim::{Job, Machine, Topology, Workload, simulate};
//!
//! let machine = Machine::plain(Topology { sockets: 1, clusters_per_socket: 1, cores_per_cluster: 4, threads_per_core: 1 });
//! let outcome = simulate(&machine, &Job::new(Workload::FetchAdd, 4)).unwrap();
//! assert!(outcome.ns_per_op > 0.0);
//! ```
#![cfg_attr(not(test), forbid(unsafe_code))]

pub mod band;
pub mod command;
mod engine;
mod error;
pub mod exam;
pub mod export;
pub mod fit;
mod from_matrix;
mod from_record;
pub mod machine;
#[cfg(test)]
#[path = "../../../fuzz/mangle.rs"]
mod mangle;
#[cfg(test)]
mod mangled;
mod outcome;
mod placement;
pub mod predict;
mod programs;
mod recommend;
pub mod record;
mod run;
mod sweep;
mod workload;

pub use error::Error;
pub use machine::{Distance, Machine, Topology};
pub use outcome::{Latencies, Outcome};
pub use workload::{Job, Length, Placement, Relax, Start, Workload};

/// Simulates a job on a machine.
///
/// # Errors
/// [`Error`] if the job does not fit the machine, or makes no progress on it.
pub fn simulate(machine: &Machine, job: &Job) -> Result<Outcome, Error> {
    run::run(machine, job)
}

/// Like [`simulate`], but then finishes every operation and checks the values of the lines: counters against operations,
/// reference counts against references.
///
/// # Errors
/// As [`simulate`], and [`Error::NotConserved`] if an operation was lost or invented.
pub fn simulate_checked(machine: &Machine, job: &Job) -> Result<Outcome, Error> {
    run::run_checked(machine, job)
}

/// Whether tests run in their long form: CI sets this.
#[cfg(test)]
fn is_long() -> bool {
    std::env::var_os("CYCLEWISE_LONG").is_some()
}
