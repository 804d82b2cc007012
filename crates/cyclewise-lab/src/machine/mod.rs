//! The machine: its features, what disturbs measurements on it, and the evidence for both.

mod boost;
mod cache_sizes;
mod cpu_list;
mod cpu_topology;
mod cpuid;
mod cpuinfo;
pub(crate) mod doctor;
mod emulator;
#[cfg(test)]
mod fake;
mod fingerprint;
mod identity;
mod idle;
mod stat;
mod steal;
mod topology;
mod warnings;

pub(crate) use cache_sizes::cache_sizes;
pub(crate) use cpu_topology::{CpuTopology, Distance, cores_first, cpu_topology};
pub(crate) use cpuid::Cpuid;
pub(crate) use cpuinfo::CpuInfo;
pub(crate) use fingerprint::fingerprint;
pub(crate) use identity::{Key, Secrets};
pub use idle::{IdlestCpu, idlest_cpu};
pub(crate) use steal::StealWatch;
