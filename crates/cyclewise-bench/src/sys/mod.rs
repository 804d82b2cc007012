//! The system calls of the tools: one wrapper for each, safe but for `process::fork`, whose child may do little.

pub mod affinity;
pub mod allocations;
pub mod clock;
pub mod crash;
pub mod errno;
pub mod file_size;
pub mod futex;
pub mod interrupt;
#[cfg(feature = "commands")]
pub mod ioctl;
pub mod limits;
pub mod memfd;
pub mod mmap;
pub mod perf;
#[cfg(feature = "commands")]
pub mod perf_ibs;
#[cfg_attr(
    not(feature = "commands"),
    allow(dead_code, reason = "flags of sampling, which no benchmark does")
)]
pub mod perf_open;
#[cfg(feature = "commands")]
pub mod perf_probe;
#[cfg(feature = "commands")]
pub mod perf_record;
#[cfg(feature = "commands")]
pub mod perf_ring;
#[cfg(feature = "commands")]
pub mod perf_sampling;
pub mod process;
pub mod procfs;
pub mod signal;
#[cfg(feature = "commands")]
pub mod signal_mask;
#[cfg(feature = "commands")]
pub mod spawn;
pub mod stdin;
pub mod stdout;
pub mod terminal;
pub mod thread;
pub mod usage;
