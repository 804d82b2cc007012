//! A fake tree of /proc and /sys for tests.

use crate::sys::procfs::Sysfs;
use std::fs;
use tempfile::TempDir;

/// The tree; deleted on drop.
pub(crate) struct Tree {
    directory: TempDir,
}

impl Tree {
    /// An empty tree.
    pub(crate) fn new() -> Self {
        Self {
            directory: tempfile::tempdir().expect("a temporary directory"),
        }
    }

    /// A KVM guest with two x86 CPUs, for which the hypervisor is the only warning.
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

    /// Writes a file.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let file = self.fs().locate(path);
        fs::create_dir_all(file.parent().expect("a file has a directory")).expect("directories below the root");
        fs::write(file, text).expect("a file below the root");
    }

    /// Removes a file.
    pub(crate) fn remove(&self, path: &str) {
        fs::remove_file(self.fs().locate(path)).expect("a file that is there");
    }

    /// The tree as the machine's files.
    pub(crate) fn fs(&self) -> Sysfs {
        Sysfs::at(self.directory.path())
    }
}
