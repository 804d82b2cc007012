//! The machine: its features, what disturbs measurements on it, and the evidence for both.

mod boost;
mod cpu_list;
mod cpu_topology;
mod cpuid;
mod cpuinfo;
pub mod doctor;
mod emulator;
#[cfg(test)]
mod fake;
mod fingerprint;
mod idle;

mod stat;
mod steal;
mod topology;
mod warnings;

pub use cpu_topology::{CpuTopology, Distance, cores_first, cpu_topology};
pub use cpuid::{Cpuid, Hypervisor, Leaf};
pub use cpuinfo::CpuInfo;
pub use fingerprint::{fingerprint, fingerprint_of};
pub use idle::{IdlestCpu, idlest_cpu};
pub use steal::StealWatch;
