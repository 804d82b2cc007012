//! RCU in whole processes: storms with poisoned memory, threads that end, forgotten guards, forks, signal handlers, panics, stalls and
//! sandboxes.
//!
//! Each check runs in its own process.

mod closures;
#[path = "../common/mod.rs"]
mod common;
mod domains;
mod forks;
mod stalls;
mod storms;
mod threads;

use common::harness::{self, unless};

fn main() {
    harness::run(
        &[
            storms::CHECKS,
            threads::CHECKS,
            closures::CHECKS,
            domains::CHECKS,
            stalls::CHECKS,
            unless(harness::no_filters(), storms::SANDBOXED),
            unless(harness::EMULATED, forks::CHECKS),
        ]
        .concat(),
    );
}
