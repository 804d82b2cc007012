//! The only system calls of the lab, each behind a safe function but for `process::fork`, whose child may do little.

pub mod affinity;
pub mod auxv;
pub mod channel;
pub mod clock;
pub mod creation;
pub mod elision;
pub mod errno;
pub mod file;
pub mod futex;
pub mod kvm;
pub mod limits;
pub mod membarrier;
pub mod memfd;
pub mod percpu;
pub mod perf;
pub mod perf_probe;
pub mod process;
pub mod procfs;
pub mod protect;
pub mod rseq;
pub mod shared;
pub mod sigmask;
pub mod spawn;
pub mod thread;
pub mod usage;
pub mod vdso;
