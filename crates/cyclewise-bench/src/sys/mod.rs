//! The system calls of the tools: one wrapper for each, safe but for `process::fork`, whose child may do little.

pub mod affinity;
pub mod clock;
pub mod errno;
pub mod file_size;
pub mod futex;
pub mod interrupt;
pub mod ioctl;
pub mod limits;
pub mod memfd;
pub mod mmap;
pub mod perf;
pub mod perf_ibs;
pub mod perf_open;
pub mod perf_probe;
pub mod perf_record;
pub mod perf_ring;
pub mod perf_sampling;
pub mod process;
pub mod procfs;
pub mod signal;
pub mod signal_mask;
pub mod spawn;
pub mod stdout;
pub mod terminal;
pub mod thread;
pub mod usage;
