//! Throttling: time that a control group's quota of CPU time kept this process from running.
//!
//! A quota of 20 ms in each 100 lets a program that computes run for 20 ms and then stops it for 80: its wall time is five times
//! what it takes elsewhere, and no CPU time, no switch and no steal of a hypervisor shows why. `cpu.stat` of the group does.
//!
//! # Groups above
//! A quota of any group above this process's stops it as well, and each counts its own; the sum is what all took. A container that sees
//! its own group only cannot know of quotas above that.
//!
//! # References
//! Linux, Documentation/scheduler/sched-bwc.rst, "Statistics"; admin-guide/cgroup-v2.rst, `cpu.stat`: version 2 has microseconds
//! (`throttled_usec`), version 1 nanoseconds (`throttled_time`). Both sum the time of every CPU on which the group waited.

use super::identity::cgroup;
use crate::record::Throttled;
use crate::sys::procfs::Sysfs;
use std::fs::File;
use std::os::unix::fs::FileExt;

/// More than the length of a `cpu.stat`.
const LONGEST: usize = 1024;

/// The open `cpu.stat` of each group of this process that counts periods of a quota.
#[derive(Debug, Default)]
pub struct ThrottleWatch {
    files: Vec<File>,
}

impl ThrottleWatch {
    /// The groups of this process; none where no control group has a quota, or the kernel does not tell.
    pub fn open() -> Self {
        Self::open_in(&Sysfs::machine())
    }

    /// As [`ThrottleWatch::open`], below the root of `fs`.
    pub fn open_in(fs: &Sysfs) -> Self {
        let folders = cgroup::folders(fs).unwrap_or_default();
        let files = folders
            .iter()
            .filter_map(|folder| File::open(fs.locate(&format!("{folder}/cpu.stat"))).ok());
        // That of the root, and that of a group without the controller, say no periods.
        Self {
            files: files.filter(|file| read(file).is_some()).collect(),
        }
    }

    /// What quotas took so far; `None` where no group has one.
    pub fn read(&self) -> Option<Throttled> {
        self.files.iter().filter_map(read).reduce(|a, b| Throttled {
            // The periods are those of the group that was stopped most.
            periods: if b.throttled > a.throttled {
                b.periods
            } else {
                a.periods
            },
            throttled: a.throttled.max(b.throttled),
            seconds: a.seconds + b.seconds,
        })
    }
}

fn read(file: &File) -> Option<Throttled> {
    let mut buffer = [0; LONGEST];
    let length = file.read_at(&mut buffer, 0).ok()?;
    parse(std::str::from_utf8(&buffer[..length]).ok()?)
}

fn parse(text: &str) -> Option<Throttled> {
    let number = |name: &str| {
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
        line.trim().parse::<u64>().ok()
    };
    let micros = || number("throttled_usec").map(|us| us as f64 / 1e6);
    let nanos = || number("throttled_time").map(|ns| ns as f64 / 1e9);
    Some(Throttled {
        periods: number("nr_periods")?,
        throttled: number("nr_throttled")?,
        seconds: micros().or_else(nanos)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::fake::Tree;

    const V2: &str = "usage_usec 165000\nuser_usec 160000\nsystem_usec 5000\nnr_periods 55\nnr_throttled 55\nthrottled_usec 635000\n";

    fn watch(mounts: &str, groups: &str, files: &[(&str, &str)]) -> (Tree, ThrottleWatch) {
        let tree = Tree::new();
        tree.write("/proc/self/mountinfo", mounts);
        tree.write("/proc/self/cgroup", groups);
        files.iter().for_each(|(path, text)| tree.write(path, text));
        let watch = ThrottleWatch::open_in(&tree.fs());
        (tree, watch)
    }

    #[test]
    fn both_versions_are_read_and_follow_their_files() {
        let mount = "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
        let files = [
            ("/sys/fs/cgroup/cpu.stat", "usage_usec 1\n"),
            ("/sys/fs/cgroup/a/cpu.stat", V2),
            (
                "/sys/fs/cgroup/a/b/cpu.stat",
                "usage_usec 9\nnr_periods 7\nnr_throttled 0\nthrottled_usec 0\n",
            ),
        ];
        let (tree, two) = watch(mount, "0::/a/b\n", &files);
        let expected = Throttled {
            periods: 55,
            throttled: 55,
            seconds: 0.635,
        };
        assert_eq!(two.read(), Some(expected), "that of the group above");
        tree.write("/sys/fs/cgroup/a/cpu.stat", &V2.replace("635000", "735000"));
        assert_eq!(two.read().unwrap().seconds, 0.735);
        let mount = "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n";
        let v1 = "nr_periods 10\nnr_throttled 4\nthrottled_time 2500000000\n";
        let (_tree, one) = watch(mount, "3:cpu:/job\n", &[("/sys/fs/cgroup/cpu/job/cpu.stat", v1)]);
        let found = one.read().unwrap();
        assert_eq!((found.throttled, found.seconds), (4, 2.5));
    }

    #[test]
    fn where_there_is_no_quota_nothing_is_known() {
        let mount = "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
        for files in [
            &[][..],
            &[("/sys/fs/cgroup/a/cpu.stat", "usage_usec 1\n")],
            &[("/sys/fs/cgroup/a/cpu.stat", "nr_periods x\n")],
        ] {
            assert_eq!(watch(mount, "0::/a\n", files).1.read(), None);
        }
        assert_eq!(ThrottleWatch::open_in(&Tree::new().fs()).read(), None);
    }
}
