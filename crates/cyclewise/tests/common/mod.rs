//! Helpers for test programs.
//!
//! Handlers, text, filters and affinities are process state. Programs whose checks change them do not use libtest, which
//! starts threads, but [`harness`], which runs each check in a child of a process with one thread.
#![allow(dead_code, unused_imports, unused_macros, reason = "each test program uses a part")]
#![allow(unreachable_pub, reason = "each test program is a crate of its own")]

pub mod call;
pub mod cc;
pub mod child;
pub mod cpu;
pub mod dl;
pub mod example;
pub mod filter;
#[cfg(not(loom))]
pub mod futex;
pub mod harness;
pub mod length;
pub mod ring;
pub mod sanitizer;
pub mod signal;
pub mod text;
pub mod time_namespace;
#[cfg(target_arch = "x86_64")]
pub mod trap_flag;

/// Lets other threads run until `is_so`.
pub fn until(mut is_so: impl FnMut() -> bool) {
    while !is_so() {
        std::thread::yield_now();
    }
}
