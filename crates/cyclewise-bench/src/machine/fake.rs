//! Made-up machines for tests: a tree of /proc and /sys, /proc/cpuinfo, and CPUID.

use super::cpuid::Cpuid;
use crate::sys::procfs::Sysfs;
use std::fs;
use tempfile::TempDir;

/// /proc/cpuinfo of an x86 guest with two CPUs.
pub const X86: &str = "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC\n\
    flags\t\t: fpu tsc rdtscp constant_tsc nonstop_tsc hypervisor fsgsbase rdpid\nbogomips\t: 5192.28\n\n\
    processor\t: 1\nmodel name\t: second\n";

/// /proc/cpuinfo of a Neoverse N1.
pub const AARCH64: &str = "processor\t: 0\nBogoMIPS\t: 243.75\nFeatures\t: fp asimd atomics\n\
    CPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\nCPU revision\t: 1\n";

/// An EPYC guest of KVM with an invariant TSC, with FSGSBASE, RDTSCP and RDPID, without leaf 15h.
pub fn kvm_guest() -> Cpuid {
    Cpuid::from_leaves([
        (0, [0x1c, chars(b"Auth"), chars(b"cAMD"), chars(b"enti")]),
        (1, [0x00a1_0f11, 0, 1 << 31, 0]),
        (7, [0, 1, 1 << 22, 0]),
        (
            0x4000_0000,
            [0x4000_0001, chars(b"KVMK"), chars(b"VMKV"), chars(b"M\0\0\0")],
        ),
        (0x4000_0001, [1 << 0 | 1 << 3 | 1 << 5 | 1 << 24, 0, 0, 0]),
        (0x8000_0001, [0, 0, 0, 1 << 27]),
        (0x8000_0002, [chars(b"AMD "), chars(b"EPYC"), 0, 0]),
        (0x8000_0003, [0; 4]),
        (0x8000_0004, [0; 4]),
        (0x8000_0007, [0, 0, 0, 1 << 8]),
    ])
}

fn chars(s: &[u8; 4]) -> u32 {
    u32::from_le_bytes(*s)
}

/// The tree; deleted on drop.
pub struct Tree {
    directory: TempDir,
}

impl Default for Tree {
    fn default() -> Self {
        Self::new()
    }
}

impl Tree {
    pub fn new() -> Self {
        Self {
            directory: tempfile::tempdir().expect("a temporary directory"),
        }
    }

    /// A KVM guest with two x86 CPUs, for which the hypervisor is the only warning.
    pub fn guest() -> Self {
        let tree = Self::new();
        tree.write("/proc/cpuinfo", X86);
        tree.write("/proc/self/status", "Cpus_allowed_list:\t0-1\n");
        tree.write("/proc/sys/kernel/osrelease", "6.18.0\n");
        tree.write("/proc/loadavg", "0.00 0.09 0.08 4/108 6744\n");
        tree.write("/proc/cmdline", "mitigations=auto quiet\n");
        let clocksource = "/sys/devices/system/clocksource/clocksource0";
        tree.write(&format!("{clocksource}/current_clocksource"), "tsc\n");
        tree.write(&format!("{clocksource}/available_clocksource"), "tsc kvm-clock \n");
        let cpus = super::topology::CPUS;
        tree.write(&format!("{cpus}/online"), "0-1\n");
        tree.write(&format!("{cpus}/smt/control"), "notsupported\n");
        tree.write(&format!("{cpus}/smt/active"), "0\n");
        tree.write(&format!("{cpus}/vulnerabilities/meltdown"), "Not affected\n");
        tree.write(
            &format!("{cpus}/vulnerabilities/spectre_v2"),
            "Mitigation: Retpolines\n",
        );
        for cpu in 0..2 {
            tree.write(
                &format!("{cpus}/cpu{cpu}/topology/thread_siblings_list"),
                &cpu.to_string(),
            );
            tree.write(&format!("{cpus}/cpu{cpu}/topology/physical_package_id"), "0");
        }
        tree
    }

    pub fn write(&self, path: &str, text: &str) {
        let file = self.fs().locate(path);
        fs::create_dir_all(file.parent().expect("a file has a directory")).expect("directories below the root");
        fs::write(file, text).expect("a file below the root");
    }

    pub fn remove(&self, path: &str) {
        fs::remove_file(self.fs().locate(path)).expect("a file that is there");
    }

    /// The tree as the machine's files.
    pub fn fs(&self) -> Sysfs {
        Sysfs::at(self.directory.path())
    }
}
