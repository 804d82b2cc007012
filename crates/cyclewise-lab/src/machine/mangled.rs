//! Files of /proc and /sys that are mangled.

use super::doctor::{self, Inputs};
use super::fake::{self, Tree};
use super::{cpu_topology, topology};
use crate::mangle::{Owes, hold};

/// Files of a guest's /proc and /sys, and of a hybrid CPU's.
const KERNEL: &[(&str, &str)] = &[
    ("/proc/cpuinfo", fake::X86),
    (
        "/proc/stat",
        "cpu  9 1 2 300 4 0 0 5 0 0\ncpu0 4 0 1 150 2 0 0 2 0 0\ncpu1 5 1 1 150 2 0 0 3 0 0\nintr 5 0\n",
    ),
    (
        "/proc/self/status",
        "Name:\tx\nCpus_allowed_list:\t0-1\nMems_allowed_list:\t0\n",
    ),
    ("/proc/self/cgroup", "0::/user.slice/a.scope\n4:cpu,cpuacct:/a\n"),
    (
        "/proc/self/mountinfo",
        "31 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n32 23 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n",
    ),
    ("/sys/fs/cgroup/user.slice/a.scope/cpu.max", "150000 100000\n"),
    ("/sys/fs/cgroup/user.slice/a.scope/memory.max", "max\n"),
    ("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "-1\n"),
    ("/sys/devices/system/cpu/online", "0-1\n"),
    ("/sys/devices/system/cpu/possible", "0-3\n"),
    ("/sys/devices/system/cpu/smt/control", "on\n"),
    ("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0-1\n"),
    ("/sys/devices/system/cpu/cpu0/topology/physical_package_id", "0\n"),
    ("/sys/devices/system/cpu/cpu0/topology/core_id", "0\n"),
    ("/sys/devices/system/cpu/cpu0/cache/index3/level", "3\n"),
    ("/sys/devices/system/cpu/cpu0/cache/index3/size", "32768K\n"),
    ("/sys/devices/system/cpu/cpu0/cache/index3/shared_cpu_list", "0-1\n"),
    ("/sys/devices/system/cpu/cpu0/cpu_capacity", "1024\n"),
    ("/sys/devices/system/cpu/vulnerabilities/meltdown", "Not affected\n"),
    ("/sys/devices/system/node/online", "0\n"),
    ("/sys/devices/cpu_core/cpus", "0\n"),
    ("/sys/devices/cpu_atom/cpus", "1\n"),
    ("/sys/devices/cpu/type", "4\n"),
    ("/proc/sys/kernel/perf_event_paranoid", "2\n"),
    ("/proc/sys/kernel/osrelease", "6.18.0\n"),
    ("/proc/loadavg", "0.00 0.09 0.08 4/108 6744\n"),
];

#[test]
fn files_of_the_kernel() {
    // Between two files stands a line that mangling may break: then one has the text of both.
    let good = KERNEL.iter().map(|(_, text)| *text).collect::<Vec<_>>().join("\0\0\n");
    let tree = Tree::new();
    hold(
        &[good.as_bytes()],
        Owes {
            most_bytes: |file| (16 << 20) + 64 * file,
            ..Owes::default()
        },
        move |bytes| {
            let all = String::from_utf8_lossy(bytes);
            for ((path, _), text) in KERNEL.iter().zip(all.split("\0\0\n").chain(std::iter::repeat(""))) {
                tree.write(path, text);
            }
            let inputs = Inputs::guest(&tree);
            let fs = tree.fs();
            let report = doctor::examine_with(&inputs);
            let shown = report
                .lines
                .iter()
                .map(|line| [line.answer.value.clone(), line.answer.evidence.clone()].concat());
            let shown: Vec<String> = shown.collect();
            let cpus = topology::online(&fs).unwrap_or_default();
            let few = &cpus[..cpus.len().min(4)];
            let _ = (
                cpu_topology::cpu_topology_in(&fs, few),
                topology::hybrid(&fs),
                topology::packages_and_cores(&fs, few),
            );
            let _ = (
                topology::caches(&fs, 0),
                topology::capacities(&fs),
                topology::nodes(&fs),
            );
            let breaks = |c: char| crate::error::is_control(c) && c != '\n' && c != '\t';
            match shown.iter().find(|line| line.contains(breaks)) {
                Some(line) => Err(line.clone()),
                None => Ok(shown),
            }
        },
    );
}
