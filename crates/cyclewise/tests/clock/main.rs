//! The clock in whole processes: beside the kernel's, with sources that say anything, in children of fork, and where limits and
//! filters refuse.
//!
//! Each check runs in its own process.

#[path = "../common/mod.rs"]
mod common;
mod exhausted;
mod filter;
mod fork;
mod kernel;
mod wild;

use common::harness::{self, unless};

fn main() {
    harness::run(
        &[
            kernel::CHECKS,
            wild::CHECKS,
            exhausted::CHECKS,
            unless(harness::no_filters(), filter::CHECKS),
            unless(harness::EMULATED, fork::CHECKS),
        ]
        .concat(),
    );
}
