//! Programs that are given by a descriptor, which exec may close before the emulator opens them.
//!
//! A file that has a name is opened by it. One that has none, as those of memfd_create(2), is held open by a descriptor with a high
//! number, which programs seldom look at; the program's own numbers are what they would be without the emulator.

use crate::sys;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Where free numbers are looked for, the best place first. A limit of open files may be lower.
const FREE: [i32; 3] = [1000, 200, 3];

/// A program, and what holds it open.
#[derive(Debug)]
pub struct Opened {
    /// The path by which the emulator can open it.
    pub path: PathBuf,
    held: Option<i32>,
}

impl Opened {
    /// A program that has a path.
    pub fn named(path: PathBuf) -> Self {
        Self { path, held: None }
    }

    /// The program that the descriptor `fd` is of, which the kernel would call `name`.
    pub fn of(fd: i32, name: PathBuf) -> Self {
        let link = link(fd);
        // An interpreter is told the name, and opens it itself, or cannot.
        if is_script(&link) {
            return Self::named(name);
        }
        match std::fs::read_link(&link) {
            Ok(target) if is_same(&target, &link) => Self::named(target),
            _ => Self::held(fd, link),
        }
    }

    fn held(fd: i32, link: PathBuf) -> Self {
        if !sys::closes_at_exec(fd) {
            return Self::named(link);
        }
        let held = FREE.iter().find_map(|lowest| sys::duplicate(fd, *lowest));
        Self {
            path: held.map_or(link, self::link),
            held,
        }
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        if let Some(fd) = self.held {
            sys::close_duplicate(fd);
        }
    }
}

/// The name by which a process opens what a descriptor is of.
pub fn link(fd: i32) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{fd}"))
}

/// The descriptor that a path such as `/proc/self/fd/3` or `/dev/fd/3` names.
pub fn number(path: &Path) -> Option<i32> {
    let is_below = ["/proc/self/fd", "/proc/thread-self/fd", "/dev/fd"]
        .iter()
        .any(|folder| path.parent() == Some(Path::new(folder)));
    is_below.then(|| path.file_name()?.to_str()?.parse().ok()).flatten()
}

/// Whether the kernel would have an interpreter open the file.
pub fn is_script(path: &Path) -> bool {
    let mut start = [0; 2];
    File::open(path).is_ok_and(|mut file| file.read_exact(&mut start).is_ok()) && start == *b"#!"
}

fn is_same(a: &Path, b: &Path) -> bool {
    let identity = |path: &Path| std::fs::metadata(path).map(|m| (m.dev(), m.ino())).ok();
    a.is_absolute() && identity(a).is_some_and(|a| Some(a) == identity(b))
}

#[cfg(test)]
mod tests {
    use super::{Opened, number};
    use std::fs::File;
    use std::os::fd::AsRawFd;
    use std::path::Path;

    #[test]
    fn paths_of_descriptors() {
        assert_eq!(number(Path::new("/dev/fd/7")), Some(7));
        assert_eq!(number(Path::new("/proc/self/fd/12")), Some(12));
        assert_eq!(number(Path::new("/proc/self/fd/12/x")), None);
        assert_eq!(number(Path::new("/proc/self/exe")), None);
    }

    #[test]
    fn a_file_without_a_name_is_held_open_until_then() {
        let folder = std::env::temp_dir();
        let path = folder.join(format!("cyclewise-descriptor-{}", std::process::id()));
        std::fs::write(&path, "text").unwrap();
        let file = File::open(&path).unwrap();
        let fd = file.as_raw_fd();
        let named = Opened::of(fd, "/dev/fd/0".into());
        assert_eq!(
            std::fs::canonicalize(&named.path).unwrap(),
            std::fs::canonicalize(&path).unwrap()
        );
        std::fs::remove_file(&path).unwrap();
        // What has its name now is another file.
        std::fs::write(&path, "other").unwrap();
        let held = Opened::of(fd, "/dev/fd/0".into());
        let link = held.path.clone();
        assert_eq!(std::fs::read_to_string(&link).unwrap(), "text");
        drop(held);
        assert!(!link.exists());
        std::fs::write(&path, "#!/bin/sh").unwrap();
        let script = File::open(&path).unwrap();
        let name = Opened::of(script.as_raw_fd(), "/dev/fd/9".into());
        assert_eq!(name.path, Path::new("/dev/fd/9"));
        std::fs::remove_file(&path).unwrap();
    }
}
