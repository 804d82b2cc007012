//! Beside what others made: gdb, Valgrind, a second copy of the crate, and threads created past the hooks.
//!
//! Each check runs in its own process. gdb and Valgrind run this program again, with the name of a part as argument.

#[path = "../common/mod.rs"]
mod common;
mod debugger;
mod past_hooks;
mod plugin;
mod valgrind;

use common::harness::{self, unless};
use cyclewise::error::Refusal;

fn main() {
    if !cfg!(all(
        target_arch = "x86_64",
        target_env = "gnu",
        not(target_feature = "crt-static")
    )) {
        harness::skip("no LOCK prefix on this architecture, or no hooks in this C library");
    }
    let argument = std::env::args().nth(1).unwrap_or_default();
    if debugger::run_part(&argument) || valgrind::run_part(&argument) {
        return;
    }
    let no_joins = harness::under_asan("its runtime gives up where a thread is joined that it has not seen begin");
    let checks = [
        debugger::CHECKS,
        plugin::CHECKS,
        unless(no_joins, past_hooks::CHECKS),
        unless(valgrind::missing(), valgrind::CHECKS),
    ];
    harness::run_as(&checks.concat(), |name, check| {
        if name.starts_with("valgrind::") {
            valgrind::run(name)
        } else {
            harness::in_a_child(name, check)
        }
    });
}

/// Asks for single mode. The macro exports the hooks, which a program has once.
fn enable() -> Result<(), Refusal> {
    // SAFETY: these checks create threads through the C library only, but for some that use no atomics of ours; and they share none of
    // ours with other processes.
    unsafe { cyclewise::enable_single!() }
}
