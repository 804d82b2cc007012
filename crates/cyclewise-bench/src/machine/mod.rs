//! The machine: its features, what disturbs measurements on it, and the evidence for both.

pub mod boost;
mod cpu_list;
pub mod cpu_topology;
pub mod cpuid;
pub mod cpuinfo;
pub mod emulator;
#[cfg(any(test, feature = "testing"))]
pub mod fake;
pub mod fingerprint;
pub mod identity;
mod idle;
#[cfg(feature = "commands")]
pub mod lock_emulator;
#[cfg(feature = "commands")]
pub mod lock_event;
pub mod stat;
mod steal;
mod throttle;
pub mod topology;
pub mod warnings;

pub use cpu_topology::{CpuTopology, cores_first, cpu_topology};
pub use cpuid::Cpuid;
pub use cpuinfo::CpuInfo;
pub use fingerprint::fingerprint;
#[cfg(feature = "commands")]
pub use identity::{Key, Secrets};
pub use idle::{IdlestCpu, idlest_cpu};
pub use steal::StealWatch;
pub use throttle::ThrottleWatch;

/// The CPUs on which a program of this process could run; those that this thread may use where /sys does not say.
pub fn online_cpus(fs: &crate::sys::procfs::Sysfs) -> Vec<u32> {
    topology::online(fs)
        .or_else(|| topology::allowed(fs))
        .unwrap_or_else(|| vec![0])
}
