//! Asymmetric fences in whole processes: the store-buffer litmus, sandboxes, forks, and the instructions of a light fence.
//!
//! Each check runs in its own process.

mod code;
#[path = "../common/mod.rs"]
mod common;
mod litmus;
mod sandboxes;

use common::harness::{self, unless};

fn main() {
    harness::run(
        &[
            unless(code::missing(), code::CHECKS),
            unless(litmus::missing(), litmus::CHECKS),
            unless(harness::no_filters(), sandboxes::CHECKS),
        ]
        .concat(),
    );
}
