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
pub(crate) mod fake;
mod fingerprint;
pub(crate) mod guest;
mod identity;
mod idle;
mod lock_emulator;
pub(crate) mod lock_event;
#[cfg(test)]
mod mangled;
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

/// The CPUs on which a program of this process could run; those that this thread may use where /sys does not say.
pub(crate) fn online_cpus(fs: &crate::sys::procfs::Sysfs) -> Vec<u32> {
    topology::online(fs)
        .or_else(|| topology::allowed(fs))
        .unwrap_or_else(|| vec![0])
}
