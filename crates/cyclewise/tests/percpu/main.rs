//! Per-CPU data in whole processes.
//!
//! Process-wide decisions are tested in a new process: this program, run again with the name of the part in its
//! environment (`parts`).
#![cfg(target_os = "linux")]

mod backends;
#[cfg(target_arch = "x86_64")]
#[path = "../common/mod.rs"]
mod common;
mod parts;
#[cfg(all(target_arch = "x86_64", target_env = "gnu"))]
#[allow(dead_code, reason = "a part is for other tests")]
#[path = "../refused/mod.rs"]
mod refused;
mod sections;
// Elsewhere there is no trap flag; the models of the locks run there too.
#[cfg(target_arch = "x86_64")]
mod stepped;
mod threads;
