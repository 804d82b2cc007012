//! The only system calls of the lab, each behind a safe function.

pub mod affinity;
pub mod auxv;
pub mod clock;
pub mod errno;
pub mod kvm;
pub mod limits;
pub mod membarrier;
pub mod memfd;
pub mod perf;
pub mod perf_probe;
pub mod procfs;
pub mod protect;
pub mod rseq;
pub mod usage;
pub mod vdso;
