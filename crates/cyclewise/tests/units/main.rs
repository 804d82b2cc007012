//! Several link units in one process: shared objects written in C, with descriptors by hand, and what happens to their sites.
#![cfg_attr(
    not(all(target_arch = "x86_64", target_env = "gnu", not(target_feature = "crt-static"))),
    allow(dead_code, unused_imports, reason = "no mode there")
)]

#[path = "../common/mod.rs"]
mod common;
mod flips;
mod hostile;
mod keys;
mod modes;
mod object;
mod room;
#[cfg(all(target_arch = "x86_64", target_env = "gnu", not(target_feature = "crt-static")))]
mod strange_text;

use common::harness;

#[cfg(all(target_arch = "x86_64", target_env = "gnu", not(target_feature = "crt-static")))]
fn main() {
    harness::need_filters();
    harness::run(
        &[
            keys::CHECKS,
            modes::CHECKS,
            hostile::CHECKS,
            flips::CHECKS,
            room::CHECKS,
            strange_text::CHECKS,
        ]
        .concat(),
    );
}

#[cfg(not(all(target_arch = "x86_64", target_env = "gnu", not(target_feature = "crt-static"))))]
fn main() {
    harness::skip("no LOCK prefix on this architecture, or no dynamic linker of glibc");
}
