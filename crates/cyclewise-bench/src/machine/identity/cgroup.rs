//! What this process's control groups allow: the least limit of its group and of the groups above it.
//!
//! # References
//! cgroups(7), "/proc/\[pid\]/cgroup"; proc_pid_mountinfo(5). Linux, Documentation/admin-guide/cgroup-v2.rst, `cpu.max`, `memory.max`,
//! `pids.max`; cgroup-v1/memory.rst, scheduler/sched-bwc.rst.

use crate::record::Cgroup;
use crate::sys::procfs::Sysfs;

/// A limit of version 1 above this is none: the kernel shows "unlimited" as the largest multiple of a page.
const UNLIMITED_V1: u64 = 1 << 62;

/// The limits; `None` if the kernel's lists of groups or of mounts cannot be read, or no group of ours is mounted.
pub(super) fn limits(fs: &Sysfs) -> Option<Cgroup> {
    let mut limits = Cgroup::default();
    let mut found = false;
    for folder in folders(fs)? {
        found |= fs.exists(&folder);
        read(fs, &folder, &mut limits);
    }
    found.then_some(limits)
}

/// The folders of this process's groups and of those above them, as far as they are mounted; `None` if the kernel's lists of groups or
/// of mounts cannot be read.
pub(in crate::machine) fn folders(fs: &Sysfs) -> Option<Vec<String>> {
    let groups = fs.text("/proc/self/cgroup")?;
    let mounts = fs.text("/proc/self/mountinfo")?;
    let mounts: Vec<Mount> = mounts.lines().filter_map(Mount::parse).collect();
    let groups = groups.lines().filter_map(Group::parse);
    Some(groups.flat_map(|group| group.folders(&mounts)).collect())
}

/// Lowers `limits` to those of the group in `folder`. A file that another version or controller has is absent.
fn read(fs: &Sysfs, folder: &str, limits: &mut Cgroup) {
    let text = |file: &str| fs.text(&format!("{folder}/{file}"));
    let number = |file: &str| text(file)?.parse::<u64>().ok();
    let quota = text("cpu.max").and_then(|t| {
        // "max 100000" or "150000 100000": microseconds in each period.
        let (quota, period) = t.split_once(' ')?;
        cpus(quota.parse().ok()?, period.trim().parse().ok()?)
    });
    let quota_v1 = || cpus(number("cpu.cfs_quota_us")?, number("cpu.cfs_period_us")?);
    limits.cpus = least(limits.cpus, quota.or_else(quota_v1));
    let memory_v1 = || number("memory.limit_in_bytes").filter(|bytes| *bytes < UNLIMITED_V1);
    limits.memory_bytes = least(limits.memory_bytes, number("memory.max").or_else(memory_v1));
    limits.pids = least(limits.pids, number("pids.max"));
}

fn cpus(quota: u64, period: u64) -> Option<f64> {
    (quota > 0 && period > 0).then(|| quota as f64 / period as f64)
}

fn least<T: PartialOrd>(a: Option<T>, b: Option<T>) -> Option<T> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if b < a { b } else { a }),
        (a, b) => a.or(b),
    }
}

/// A line of /proc/self/cgroup: `0::/path`, or `3:cpu,cpuacct:/path` of version 1.
struct Group<'a> {
    /// The controllers; empty for version 2.
    controllers: &'a str,
    path: &'a str,
}

impl<'a> Group<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        Some(Self { controllers, path })
    }

    /// The folders of the group and of those above it, as far as they are mounted.
    fn folders(&self, mounts: &[Mount]) -> Vec<String> {
        let Some(mount) = mounts.iter().find(|m| m.is_of(self.controllers)) else {
            return Vec::new();
        };
        // A container may see only its own group, mounted as the root; a group outside the namespace begins with "/..".
        let below = self.path.strip_prefix(mount.root.trim_end_matches('/'));
        // "/a/bc" is not below "/a/b".
        let below = below
            .filter(|rest| rest.is_empty() || rest.starts_with('/'))
            .unwrap_or("");
        let mut folder = mount.point.trim_end_matches('/').to_owned();
        let mut folders = vec![folder.clone()];
        for name in below.split('/').filter(|n| !n.is_empty() && *n != "..") {
            folder = format!("{folder}/{name}");
            folders.push(folder.clone());
        }
        folders
    }
}

/// A line of /proc/self/mountinfo.
struct Mount {
    /// The folder of its file system that is mounted.
    root: String,
    point: String,
    kind: String,
    /// Options of the file system: for version 1, its controllers.
    options: String,
}

impl Mount {
    fn parse(line: &str) -> Option<Self> {
        let (before, after) = line.split_once(" - ")?;
        let mut before = before.split(' ').skip(3);
        let mut after = after.split(' ');
        Some(Self {
            root: unescape(before.next()?),
            point: unescape(before.next()?),
            kind: after.next()?.to_owned(),
            options: after.nth(1)?.to_owned(),
        })
    }

    /// Whether the groups of these controllers are mounted here.
    fn is_of(&self, controllers: &str) -> bool {
        match controllers.is_empty() {
            true => self.kind == "cgroup2",
            false => {
                let mut all = controllers.split(',');
                self.kind == "cgroup" && all.all(|c| self.options.split(',').any(|option| option == c))
            }
        }
    }
}

/// Spaces and the like are octal there: `\040`.
fn unescape(text: &str) -> String {
    [(r"\040", " "), (r"\011", "\t"), (r"\012", "\n"), (r"\134", "\\")]
        .iter()
        .fold(text.to_owned(), |text, (code, c)| text.replace(code, c))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::fake::Tree;

    const V2: &str = "31 23 0:28 / /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw\n";

    fn tree(groups: &str, mounts: &str, files: &[(&str, &str)]) -> Tree {
        let tree = Tree::new();
        tree.write("/proc/self/cgroup", groups);
        tree.write("/proc/self/mountinfo", mounts);
        for (path, text) in files {
            tree.write(path, text);
        }
        tree
    }

    #[test]
    fn the_least_limit_of_a_group_and_its_parents() {
        let files = [
            ("/sys/fs/cgroup/a/cpu.max", "150000 100000\n"),
            ("/sys/fs/cgroup/a/memory.max", "2147483648\n"),
            ("/sys/fs/cgroup/a/pids.max", "max\n"),
            ("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n"),
            ("/sys/fs/cgroup/a/b/memory.max", "4294967296\n"),
            ("/sys/fs/cgroup/a/b/pids.max", "512\n"),
            ("/sys/fs/cgroup/a/b/c/pids.max", "7\n"),
        ];
        let found = limits(&tree("0::/a/b\n", V2, &files).fs()).unwrap();
        let expected = Cgroup {
            cpus: Some(1.5),
            memory_bytes: Some(2 << 30),
            pids: Some(512),
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn version_1_and_both_at_once() {
        let mounts = "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n\
            33 31 0:30 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
            34 31 0:31 / /sys/fs/cgroup/uni\\040fied rw - cgroup2 cgroup2 rw\n";
        let groups = "3:cpu,cpuacct:/job\n2:memory:/job\n0::/job\n";
        let files = [
            ("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1"),
            ("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000"),
            ("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "50000"),
            ("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000"),
            ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712"),
            ("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "1048576"),
            ("/sys/fs/cgroup/uni fied/job/pids.max", "9"),
        ];
        let found = limits(&tree(groups, mounts, &files).fs()).unwrap();
        assert_eq!(
            (found.cpus, found.memory_bytes, found.pids),
            (Some(0.5), Some(1 << 20), Some(9))
        );
    }

    #[test]
    fn a_container_sees_its_own_group_only() {
        let mounts = "31 23 0:28 /docker/x /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
        let files = [
            ("/sys/fs/cgroup/cpu.max", "200000 100000"),
            ("/sys/fs/cgroup/in/pids.max", "5"),
        ];
        let found = limits(&tree("0::/docker/x/in\n", mounts, &files).fs()).unwrap();
        assert_eq!((found.cpus, found.pids), (Some(2.0), Some(5)));
        let outside = limits(&tree("0::/../other\n", V2, &files).fs()).unwrap();
        assert_eq!((outside.cpus, outside.pids), (Some(2.0), None));
    }

    #[test]
    fn a_group_whose_name_begins_like_the_mounted_one_is_not_below_it() {
        let mounts = "31 23 0:28 /a/b /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
        let files = [
            ("/sys/fs/cgroup/cpu.max", "200000 100000"),
            ("/sys/fs/cgroup/c/pids.max", "5"),
        ];
        let pids = |path: &str| limits(&tree(path, mounts, &files).fs()).unwrap().pids;
        assert_eq!((pids("0::/a/bc\n"), pids("0::/a/b/c\n")), (None, Some(5)));
    }

    #[test]
    fn no_limit_is_not_the_same_as_not_known() {
        let files = [("/sys/fs/cgroup/a/cpu.max", "max 100000\n")];
        assert_eq!(limits(&tree("0::/a\n", V2, &files).fs()), Some(Cgroup::default()));
        assert_eq!(limits(&Tree::new().fs()), None);
        assert_eq!(limits(&tree("0::/a\n", "", &files).fs()), None);
        assert_eq!(
            limits(&tree("0::/a\n", V2, &[]).fs()),
            None,
            "listed as mounted, and not there"
        );
    }

    #[test]
    fn numbers_that_make_no_sense_are_no_limits() {
        let files = [
            ("/sys/fs/cgroup/cpu.max", "5 0"),
            ("/sys/fs/cgroup/memory.max", "-1"),
            ("/sys/fs/cgroup/pids.max", "99999999999999999999999"),
        ];
        assert_eq!(limits(&tree("0::/\nx\n7\n", V2, &files).fs()), Some(Cgroup::default()));
    }
}
