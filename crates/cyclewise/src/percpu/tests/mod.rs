//! Tests of the internals of per-CPU data: interruptions at every step of every sequence, memory allocation, forks.

mod allocator;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod by_hand;
mod counter;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod forks;
mod free_list;
#[cfg(target_arch = "x86_64")]
mod inject;
mod operations;
mod order;
mod panics;
#[cfg(target_arch = "x86_64")]
mod priorities;
mod ring;
mod stack;
mod steps;
