//! Tests of per-CPU data that need its inside: interruptions at every step of every sequence, and the memory's sharing out.

mod allocator;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod by_hand;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod by_hand_lists;
mod counter;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod forks;
mod free_list;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod inject;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod inject_lists;
mod operations;
mod order;
mod panics;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod priorities;
mod ring;
mod stack;
mod steps;
