//! Steal time: ticks that the hypervisor took from this guest's CPUs.
//!
//! # Cost
//! One pread into a buffer that is never reallocated. Most of the cost is in the kernel, which formats the whole file (including
//! the `intr` line) on every read from its start; only the CPU lines are copied and parsed.

use super::stat::{self, Times};
use crate::sys::procfs::Sysfs;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// More than the length of a CPU line: ten counters, each of at most ten digits in a decade of uptime.
const LINE: usize = 160;

/// An open /proc/stat, to read steal time before and after every sample.
#[derive(Debug)]
pub struct StealWatch {
    file: File,
    buffer: Vec<u8>,
}

impl StealWatch {
    /// Opens /proc/stat.
    ///
    /// # Errors
    /// The file cannot be opened or read.
    pub fn open() -> io::Result<Self> {
        Self::open_in(&Sysfs::machine())
    }

    /// Opens /proc/stat below the root of `fs`.
    pub fn open_in(fs: &Sysfs) -> io::Result<Self> {
        let path = fs.locate("/proc/stat");
        let text = std::fs::read(&path)?;
        let lines = text.split(|b| *b == b'\n').filter(|l| l.starts_with(b"cpu")).count();
        Ok(Self {
            file: File::open(path)?,
            // Lines of CPUs that come online later are truncated, and read as unknown.
            buffer: vec![0; lines.max(1) * LINE],
        })
    }

    /// Steal time of all CPUs since boot, in USER_HZ ticks; `None` if the file has none.
    pub fn read(&mut self) -> Option<u64> {
        // The first line is enough, and the kernel copies no more than the buffer's length.
        self.prefix(LINE, stat::all)
    }

    /// Steal time of `cpu` since boot, in USER_HZ ticks; `None` if the file has none, or the CPU is offline.
    pub fn read_cpu(&mut self, cpu: u32) -> Option<u64> {
        self.prefix(self.buffer.len(), |text| stat::of_cpu(text, cpu))
    }

    fn prefix(&mut self, length: usize, parse: impl FnOnce(&[u8]) -> Option<Times>) -> Option<u64> {
        let buffer = &mut self.buffer[..length];
        let n = self.file.read_at(buffer, 0).ok()?;
        parse(&buffer[..n]).map(|times| times.steal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watch(text: &str) -> (tempfile::TempDir, io::Result<StealWatch>) {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("proc")).unwrap();
        std::fs::write(dir.path().join("proc/stat"), text).unwrap();
        let opened = StealWatch::open_in(&Sysfs::at(dir.path()));
        (dir, opened)
    }

    #[test]
    fn reads_follow_the_file() {
        let (dir, opened) =
            watch("cpu  1 1 1 1 1 1 1 7 0 0\ncpu0 1 1 1 1 1 1 1 3 0 0\ncpu1 1 1 1 1 1 1 1 4 0 0\nintr 5\n");
        let mut watch = opened.unwrap();
        assert_eq!(
            (watch.read(), watch.read_cpu(0), watch.read_cpu(1)),
            (Some(7), Some(3), Some(4))
        );
        assert_eq!(watch.read_cpu(2), None);
        std::fs::write(
            dir.path().join("proc/stat"),
            "cpu  1 1 1 1 1 1 1 9 0 0\ncpu0 1 1 1 1 1 1 1 9 0 0\n",
        )
        .unwrap();
        assert_eq!(
            (watch.read(), watch.read_cpu(0), watch.read_cpu(1)),
            (Some(9), Some(9), None)
        );
    }

    #[test]
    fn lines_with_the_longest_counters_fit() {
        let line = |name: &str| format!("{name} {}\n", ["9999999999"; 10].join(" "));
        let text: String = std::iter::once(line("cpu "))
            .chain((0..300).map(|n| line(&format!("cpu{n}"))))
            .collect();
        let (_dir, opened) = watch(&text);
        assert_eq!(opened.unwrap().read_cpu(299), Some(9_999_999_999));
    }

    #[test]
    fn an_absent_or_empty_file_causes_no_panic() {
        let dir = tempfile::tempdir().unwrap();
        assert!(StealWatch::open_in(&Sysfs::at(dir.path())).is_err());
        let (_dir, opened) = watch("");
        assert_eq!(opened.unwrap().read(), None);
    }

    #[test]
    fn steal_never_decreases_on_this_machine() {
        let mut watch = StealWatch::open().unwrap();
        let first = watch.read();
        assert!(watch.read() >= first);
    }
}
