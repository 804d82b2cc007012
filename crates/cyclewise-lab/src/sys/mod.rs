//! The system calls that only experiments and checks make; the others are the instrument's.

pub(crate) mod auxv;
pub(crate) mod bench_object;
pub mod channel;
pub(crate) mod creation;
mod dlsym;
pub(crate) mod file;
pub(crate) mod kvm;
pub(crate) mod membarrier;
pub(crate) mod percpu;
pub(crate) mod protect;
pub(crate) mod rseq;
pub(crate) mod shared_atomics;
pub(crate) mod vdso;

pub use cyclewise_bench::sys::*;
