//! The kernel and the C library, as this crate calls them: one call, one wrapper, one file. Errors are this crate's own.
//!
//! It is compiled whole for each Linux; only the fullest build calls all of it.
#![cfg_attr(
    not(all(feature = "std", feature = "lock", target_arch = "x86_64", target_env = "gnu")),
    allow(
        dead_code,
        unreachable_pub,
        reason = "builds without modes, masks or per-CPU data call less"
    )
)]

pub(crate) mod affinity;
#[cfg(target_arch = "x86_64")]
pub(crate) mod arch_prctl;
pub(crate) mod atfork;
pub(crate) mod auxv;
pub(crate) mod cancellation;
pub(crate) mod clock_gettime;
pub(crate) mod clocksource;
pub(crate) mod dl;
pub(crate) mod errno;
mod file;
#[cfg(test)]
pub(crate) mod for_tests;
pub(crate) mod fork_generation;
pub(crate) mod futex;
pub(crate) mod heap;
pub(crate) mod loaded_objects;
pub(crate) mod membarrier;
pub(crate) mod mmap;
pub(crate) mod mprotect;
pub(crate) mod ppoll;
pub(crate) mod proc_maps;
pub(crate) mod proc_mem;
pub(crate) mod proc_stat;
pub(crate) mod proc_task;
pub(crate) mod process;
pub(crate) mod rseq;
pub(crate) mod sigaction;
pub(crate) mod sigevent;
pub(crate) mod signal_mask;
pub(crate) mod sigqueue;
#[cfg(target_env = "gnu")]
pub(crate) mod symbol_versions;
#[cfg(test)]
mod tests;
pub(crate) mod thread;
#[cfg(all(feature = "std", target_env = "gnu"))]
pub(crate) mod thread_attributes;
pub(crate) mod timer;
pub(crate) mod uname;
pub(crate) mod vmclock;

use crate::error::Refusal;

/// The refusal of a call that failed just now, with the calling thread's errno.
fn failed(call: &'static str) -> Refusal {
    let errno = errno::get();
    Refusal::System { call, errno }
}
