//! A tree of files that stands for /proc and /sys in tests.

use crate::sys::procfs::Sysfs;
use std::fs;
use tempfile::TempDir;

/// The tree; gone when dropped.
pub(crate) struct Tree {
    directory: TempDir,
}

impl Tree {
    /// Nothing in it.
    pub(crate) fn new() -> Self {
        Self {
            directory: tempfile::tempdir().expect("a temporary directory"),
        }
    }

    /// A two-CPU x86 guest of KVM where nothing gives cause for complaint but the hypervisor.
    pub(crate) fn guest() -> Self {
        let tree = Self::new();
        tree.write("/proc/cpuinfo", super::cpuinfo::tests::X86);
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

    /// Puts a file there.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let place = self.fs().locate(path);
        fs::create_dir_all(place.parent().expect("a file has a directory")).expect("directories below the root");
        fs::write(place, text).expect("a file below the root");
    }

    /// Takes a file away.
    pub(crate) fn remove(&self, path: &str) {
        fs::remove_file(self.fs().locate(path)).expect("a file that is there");
    }

    /// Reads it the way the machine is read.
    pub(crate) fn fs(&self) -> Sysfs {
        Sysfs::at(self.directory.path())
    }
}
