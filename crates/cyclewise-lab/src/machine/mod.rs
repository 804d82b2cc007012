//! The machine: what it offers, what disturbs a measurement on it, and how we know.

mod boost;
mod cpu_list;
mod cpuid;
mod cpuinfo;
pub mod doctor;
mod emulator;
#[cfg(test)]
mod fake;
mod fingerprint;
mod idle;
mod places;
mod stat;
mod steal;
mod topology;
mod warnings;

pub use cpuid::{Cpuid, Hypervisor, Leaf};
pub use cpuinfo::CpuInfo;
pub use fingerprint::{fingerprint, fingerprint_of};
pub use idle::{Choice, idlest_cpu};
pub use places::{Distance, Place, cores_first, places};
pub use steal::StealWatch;
