//! The headers: each compiles alone and without a warning, does what the Rust side does, and records exactly its sites.
//!
//! C is compiled by `cc`, which is where rustc links. What other compilers and linkers would show is skipped, with a line that
//! says so, where they are missing; with `CI=true` a missing one is a failure.

mod compile;
#[cfg(target_arch = "x86_64")]
mod image;
#[cfg(target_arch = "x86_64")]
mod linking;
mod semantics;
#[cfg(target_arch = "x86_64")]
mod sites;
mod tool;
