//! The kernel, as this crate calls it: the only system calls, each with an error of ours.

#[cfg(all(feature = "std", target_os = "linux", target_env = "gnu"))]
pub(crate) mod affinity;
#[cfg(not(loom))]
pub(crate) mod clock;
#[cfg(all(target_os = "linux", not(loom)))]
pub(crate) mod clocksource;
#[cfg(any(
    all(target_os = "linux", not(loom)),
    all(target_arch = "x86_64", target_os = "linux"),
    all(feature = "std", target_os = "linux", target_env = "gnu")
))]
mod descriptor;
#[cfg(all(feature = "std", target_os = "linux", target_env = "gnu"))]
pub(crate) mod dl;
#[cfg(any(target_os = "linux", all(feature = "std", target_os = "linux", target_env = "gnu")))]
mod errno;
#[cfg(all(feature = "std", target_os = "linux"))]
pub(crate) mod fork;
#[cfg_attr(not(target_os = "linux"), path = "no_forks.rs")]
pub(crate) mod fork_generation;
#[cfg(all(target_os = "linux", not(loom)))]
pub(crate) mod futex;
#[cfg(all(
    feature = "std",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64"),
    not(loom)
))]
pub(crate) mod map;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub(crate) mod maps;
#[cfg(any(
    all(target_os = "linux", not(loom)),
    all(target_arch = "x86_64", target_os = "linux"),
    all(feature = "std", target_os = "linux", target_env = "gnu")
))]
pub(crate) mod membarrier;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub(crate) mod memory;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub(crate) mod own_memory;
#[cfg(all(feature = "std", target_arch = "x86_64", target_os = "linux", not(loom)))]
pub(crate) mod pin;
#[cfg(all(test, feature = "std", target_arch = "x86_64", target_os = "linux", not(loom)))]
pub(crate) mod policy;
#[cfg(all(feature = "std", target_os = "linux", target_pointer_width = "64"))]
pub(crate) mod poll;
pub(crate) mod process;
#[cfg(all(
    feature = "std",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64"),
    not(loom)
))]
pub(crate) mod rseq;
#[cfg(all(feature = "std", target_os = "linux", target_pointer_width = "64"))]
pub(crate) mod sigaction;
#[cfg(all(feature = "std", target_os = "linux", target_pointer_width = "64"))]
pub(crate) mod sigmask;
#[cfg(any(
    all(target_arch = "x86_64", target_os = "linux"),
    all(feature = "std", target_os = "linux", target_env = "gnu"),
    all(
        feature = "std",
        target_os = "linux",
        any(target_arch = "x86_64", target_arch = "aarch64"),
        not(loom)
    )
))]
pub(crate) mod signals;
#[cfg(all(feature = "std", target_os = "linux", target_env = "gnu"))]
pub(crate) mod symbol_versions;
pub(crate) mod task;
#[cfg(all(feature = "std", target_os = "linux", target_env = "gnu"))]
pub(crate) mod tasks;
#[cfg(all(feature = "std", target_os = "linux"))]
pub(crate) mod thread;

/// A call that failed just now, with the calling thread's errno.
#[cfg(any(
    all(target_arch = "x86_64", target_os = "linux"),
    all(feature = "std", target_os = "linux", any(target_env = "gnu", not(loom)))
))]
fn failed(call: &'static str) -> crate::error::Refusal {
    let errno = errno::last();
    crate::error::Refusal::System { call, errno }
}
