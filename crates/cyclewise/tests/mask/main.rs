//! The soft mask with real signals.
//!
//! Handlers and filters are process state, so each check runs in its own process.

#[path = "../common/mod.rs"]
mod common;
mod ends;
mod filters;
mod fork;
mod holds;
mod informed;
mod masking;
mod others;
mod owners;
mod stacks;
#[cfg(target_arch = "x86_64")]
mod stepped;
mod storm;
mod waits;

use common::harness::{self, unless};

fn main() {
    harness::run(
        &[
            holds::CHECKS,
            unless(harness::EMULATED, informed::CHECKS),
            ends::CHECKS,
            unless(harness::no_filters(), filters::CHECKS),
            unless(harness::EMULATED, fork::CHECKS),
            others::CHECKS,
            owners::CHECKS,
            stacks::CHECKS,
            // Elsewhere there is no trap flag; the models and the storm run there too.
            #[cfg(target_arch = "x86_64")]
            unless(
                harness::under_asan("the interceptor of poll has thousands of instructions, each of which is stepped"),
                stepped::CHECKS,
            ),
            storm::CHECKS,
            waits::CHECKS,
        ]
        .concat(),
    );
}
