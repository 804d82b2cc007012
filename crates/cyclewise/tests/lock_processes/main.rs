//! The lock where threads wait and sleep: crowds of them, children of fork, filters and priorities. Each check runs in its own
//! process.

#[path = "../common/mod.rs"]
mod common;
mod crowd;
mod filter;
mod fork;
mod freed;
mod priority;
mod room;
mod sleep;
mod stress;

use common::harness::{self, unless};

fn main() {
    let no_membarrier = harness::no_membarrier();
    harness::run(
        &[
            unless(no_membarrier, stress::CHECKS),
            unless(no_membarrier.or_else(harness::no_filters), filter::CHECKS),
            unless(harness::EMULATED, fork::CHECKS),
            unless(harness::EMULATED, priority::CHECKS),
        ]
        .concat(),
    );
}
