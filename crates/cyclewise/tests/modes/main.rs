//! The modes in which LOCK is elided: what enters and leaves them, what refuses them, and what breaks them.
//!
//! Each check runs in its own process.

mod absent;
mod arc;
#[path = "../common/mod.rs"]
mod common;
mod confined;
mod confined_broken;
mod confined_load;
mod confined_threads;
mod fork_inside;
mod fork_orders;
mod joined;
#[path = "../oracle/mod.rs"]
mod oracle;
#[cfg(target_arch = "x86_64")]
mod preempted;
mod sandbox;
mod sandboxes;
mod shared_order;
mod single;

use common::harness::{self, unless};
use cyclewise::error::Refusal;

fn main() {
    #[cfg(target_arch = "x86_64")]
    let preempted = unless(harness::no_tracing(), preempted::CHECKS);
    #[cfg(not(target_arch = "x86_64"))]
    let preempted = &[];
    if !cfg!(all(
        target_arch = "x86_64",
        target_env = "gnu",
        not(target_feature = "crt-static")
    )) {
        harness::run(&[absent::CHECKS, preempted].concat());
    }
    let no_membarrier = harness::no_membarrier();
    let no_filters = no_membarrier.or_else(harness::no_filters);
    let no_sandbox = no_filters
        .or_else(|| harness::under_asan("its runtime makes the calls that are refused, sched_getaffinity for one"));
    harness::run(
        &[
            single::CHECKS,
            joined::CHECKS,
            shared_order::CHECKS,
            unless(no_filters, confined::CHECKS),
            unless(no_filters, confined_threads::CHECKS),
            unless(no_filters, confined_load::CHECKS),
            unless(no_filters, confined_broken::CHECKS),
            unless(no_membarrier, arc::CHECKS),
            unless(no_membarrier.or_else(harness::no_tracing), fork_inside::CHECKS),
            unless(no_filters, fork_orders::CHECKS),
            unless(no_sandbox, sandbox::CHECKS),
            preempted,
        ]
        .concat(),
    );
}

/// Asks for single mode. The macro exports the hooks, which a program has once.
fn enable() -> Result<(), Refusal> {
    // SAFETY: these checks create threads through the C library only, but for some that use no atomics of ours; and they share none of
    // ours with other processes.
    unsafe { cyclewise::enable_single!() }
}
