//! Topology from /sys: CPUs, siblings, packages, caches, memory nodes and kinds of cores.

use super::cpu_list;
use crate::sys::procfs::Sysfs;
use std::collections::BTreeSet;

/// The kernel's directory of CPUs.
pub const CPUS: &str = "/sys/devices/system/cpu";

/// A cache of the first CPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cache {
    /// `L1d`, `L1i`, `L2`, `L3`.
    pub name: String,
    /// `48K` or `32768K`, as in /sys.
    pub size: String,
    /// The number of CPUs that share it.
    pub shared_by: usize,
}

/// The CPUs that this process may use, from /proc/self/status; `None` if unknown.
pub fn allowed(fs: &Sysfs) -> Option<Vec<u32>> {
    let status = fs.text("/proc/self/status")?;
    let list = status.lines().find_map(|l| l.strip_prefix("Cpus_allowed_list:"))?;
    cpu_list::parse(list).filter(|cpus| !cpus.is_empty())
}

/// The CPUs that are online; `None` if unknown.
pub fn online(fs: &Sysfs) -> Option<Vec<u32>> {
    list(fs, &format!("{CPUS}/online"))
}

/// The other threads of `cpu`'s core; `None` if unknown.
pub fn siblings(fs: &Sysfs, cpu: u32) -> Option<Vec<u32>> {
    let mut cpus = list(fs, &format!("{CPUS}/cpu{cpu}/topology/thread_siblings_list"))?;
    cpus.retain(|c| *c != cpu);
    Some(cpus)
}

/// The relative performance of `cpu`; 1024 is the highest.
pub fn capacity(fs: &Sysfs, cpu: u32) -> Option<u64> {
    fs.text(&format!("{CPUS}/cpu{cpu}/cpu_capacity"))?.parse().ok()
}

/// The different capacities of the online CPUs, ascending; empty if unknown.
pub fn capacities(fs: &Sysfs) -> Vec<u64> {
    let cpus = online(fs).unwrap_or_default();
    let mut capacities: Vec<u64> = cpus.iter().filter_map(|c| capacity(fs, *c)).collect();
    capacities.sort_unstable();
    capacities.dedup();
    capacities
}

/// The (performance, efficiency) CPUs of an Intel hybrid, from its PMUs.
pub fn hybrid(fs: &Sysfs) -> Option<(Vec<u32>, Vec<u32>)> {
    Some((
        list(fs, "/sys/devices/cpu_core/cpus")?,
        list(fs, "/sys/devices/cpu_atom/cpus")?,
    ))
}

/// The numbers of (packages, cores) of `cpus`; `None` if unknown.
pub fn packages_and_cores(fs: &Sysfs, cpus: &[u32]) -> Option<(usize, usize)> {
    let mut packages = BTreeSet::new();
    let mut cores = BTreeSet::new();
    for cpu in cpus {
        let topology = format!("{CPUS}/cpu{cpu}/topology");
        packages.insert(fs.text(&format!("{topology}/physical_package_id"))?);
        // Core numbers repeat across dies and packages; lists of siblings do not.
        cores.insert(fs.text(&format!("{topology}/thread_siblings_list"))?);
    }
    Some((packages.len(), cores.len()))
}

/// The caches of `cpu`, nearest first; empty if unknown.
pub fn caches(fs: &Sysfs, cpu: u32) -> Vec<Cache> {
    let directory = format!("{CPUS}/cpu{cpu}/cache");
    let indices = fs.names(&directory).unwrap_or_default();
    let read = |index: &String| {
        let field = |name| fs.text(&format!("{directory}/{index}/{name}"));
        let kind = match field("type")?.as_str() {
            "Data" => "d",
            "Instruction" => "i",
            _ => "",
        };
        Some(Cache {
            name: format!("L{}{kind}", field("level")?),
            size: field("size")?,
            shared_by: cpu_list::parse(&field("shared_cpu_list")?)?.len(),
        })
    };
    let mut caches: Vec<Cache> = indices.iter().filter_map(read).collect();
    caches.sort_by(|a, b| a.name.cmp(&b.name));
    caches
}

/// The number of online memory nodes; `None` if unknown.
pub fn nodes(fs: &Sysfs) -> Option<usize> {
    list(fs, "/sys/devices/system/node/online").map(|n| n.len())
}

fn list(fs: &Sysfs, path: &str) -> Option<Vec<u32>> {
    cpu_list::parse(&fs.text(path)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::fake::Tree;

    #[test]
    fn two_cores_of_two_threads() {
        let tree = Tree::new();
        tree.write(&format!("{CPUS}/online"), "0-3");
        tree.write(
            "/proc/self/status",
            "Name:\tx\nCpus_allowed:\tf\nCpus_allowed_list:\t1-3\n",
        );
        for (cpu, siblings) in [(0, "0,2"), (1, "1,3"), (2, "0,2"), (3, "1,3")] {
            tree.write(&format!("{CPUS}/cpu{cpu}/topology/thread_siblings_list"), siblings);
            tree.write(&format!("{CPUS}/cpu{cpu}/topology/physical_package_id"), "0");
        }
        let index = format!("{CPUS}/cpu0/cache/index0");
        for (name, text) in [
            ("level", "1"),
            ("type", "Data"),
            ("size", "48K"),
            ("shared_cpu_list", "0,2"),
        ] {
            tree.write(&format!("{index}/{name}"), text);
        }
        let fs = tree.fs();
        assert_eq!(allowed(&fs), Some(vec![1, 2, 3]));
        assert_eq!(online(&fs), Some(vec![0, 1, 2, 3]));
        assert_eq!(siblings(&fs, 1), Some(vec![3]));
        assert_eq!(packages_and_cores(&fs, &[0, 1, 2, 3]), Some((1, 2)));
        let l1d = Cache {
            name: "L1d".into(),
            size: "48K".into(),
            shared_by: 2,
        };
        assert_eq!(caches(&fs, 0), [l1d]);
    }

    #[test]
    fn cores_of_two_kinds() {
        let tree = Tree::new();
        tree.write("/sys/devices/cpu_core/cpus", "0-3");
        assert_eq!(hybrid(&tree.fs()), None);
        tree.write("/sys/devices/cpu_atom/cpus", "4-7");
        assert_eq!(hybrid(&tree.fs()), Some((vec![0, 1, 2, 3], vec![4, 5, 6, 7])));
        tree.write(&format!("{CPUS}/cpu4/cpu_capacity"), "446");
        assert_eq!(capacity(&tree.fs(), 4), Some(446));
    }

    #[test]
    fn without_sys_everything_is_unknown() {
        let fs = Tree::new().fs();
        assert_eq!(
            (allowed(&fs), online(&fs), siblings(&fs, 0), capacity(&fs, 0)),
            (None, None, None, None)
        );
        assert_eq!(
            (hybrid(&fs), packages_and_cores(&fs, &[0]), nodes(&fs)),
            (None, None, None)
        );
        assert!(caches(&fs, 0).is_empty());
    }
}
