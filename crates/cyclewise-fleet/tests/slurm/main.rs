//! What `cyclewise fleet plan` writes, on a real Slurm cluster whose parts fail. Run as
//!
//! ```text
//! .ci/slurm cargo test -p cyclewise-fleet --test slurm
//! ```
//!
//! A plain `cargo test` skips it and says so. Tests wait for states of the cluster, never for times, and take turns.

#[macro_use]
extern crate cyclewise_bench;

mod cluster;
#[path = "../common/mod.rs"]
mod common;
mod failures;
mod planned;
mod processes;
mod records;
mod script;
mod sweep;
mod sweeps;
