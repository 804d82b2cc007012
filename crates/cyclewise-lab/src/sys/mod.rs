//! The only system calls of the lab, each behind a safe function.

pub mod affinity;
pub mod clock;
pub mod perf;
pub mod usage;
pub mod vdso;
