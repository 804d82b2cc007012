//! Text of /proc and /sys, read below a root that tests replace with a tree of their own.
//!
//! # Invariants
//! 1. A [`Reading`] carries its path and either the text or why there is none, so that evidence never lacks its source.
//! 2. Text holds no control characters but newline and tab: it ends up on terminals.

use super::errno::Errno;
use std::fmt;
use std::path::{Path, PathBuf};

/// How much of one file a line of evidence quotes, in characters.
const QUOTED: usize = 160; // Two lines of the doctor's table.

/// A root below which `/proc` and `/sys` lie.
#[derive(Clone, Debug)]
pub struct Sysfs {
    root: PathBuf,
}

/// One file read, or the reason why not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The path as the running system names it.
    pub path: String,
    /// Its text without surrounding white space, or the error.
    pub text: Result<String, Errno>,
}

impl Sysfs {
    /// The running system's.
    pub fn machine() -> Self {
        Self::at("/")
    }

    /// A tree of files below `root`.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Where `path` (absolute, as the running system names it) lies below the root.
    pub fn locate(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    pub fn read(&self, path: &str) -> Reading {
        let text = std::fs::read(self.locate(path))
            .map(|bytes| printable(&String::from_utf8_lossy(&bytes)))
            .map_err(|e| Errno::of_error(&e));
        Reading {
            path: path.to_owned(),
            text,
        }
    }

    /// The text of `path`; `None` where it cannot be read or is empty.
    pub fn text(&self, path: &str) -> Option<String> {
        self.read(path).text.ok().filter(|t| !t.is_empty())
    }

    /// Names in the directory `path`, sorted; `None` where it cannot be listed.
    pub fn names(&self, path: &str) -> Option<Vec<String>> {
        let mut names: Vec<String> = std::fs::read_dir(self.locate(path))
            .ok()?
            .flatten()
            .map(|e| e.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        Some(names)
    }

    pub fn exists(&self, path: &str) -> bool {
        Path::exists(&self.locate(path))
    }

    /// `path exists` or `path does not exist`, as evidence.
    pub fn presence(&self, path: &str) -> String {
        let verb = if self.exists(path) { "exists" } else { "does not exist" };
        format!("{path} {verb}")
    }
}

impl Reading {
    /// The text; `None` where it cannot be read or is empty.
    pub fn get(&self) -> Option<&str> {
        self.text.as_deref().ok().filter(|t| !t.is_empty())
    }

    /// The text as a whole number.
    pub fn number(&self) -> Option<i64> {
        self.get()?.parse().ok()
    }
}

impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.text {
            Ok(text) if text.is_empty() => write!(f, "{}: empty", self.path),
            Ok(text) => {
                let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
                let quoted: String = line.chars().take(QUOTED).collect();
                let rest = if quoted.len() < line.len() { " ..." } else { "" };
                write!(f, "{}: {quoted}{rest}", self.path)
            }
            Err(errno) => write!(f, "{}: {errno}", self.path),
        }
    }
}

fn printable(text: &str) -> String {
    let clean: String = text
        .chars()
        .map(|c| {
            if crate::error::is_control(c) && c != '\n' && c != '\t' {
                ' '
            } else {
                c
            }
        })
        .collect();
    clean.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reading_says_its_path_and_its_text() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("sys/x")).unwrap();
        std::fs::write(dir.path().join("sys/x/y"), "tsc\n").unwrap();
        let fs = Sysfs::at(dir.path());
        assert_eq!(fs.read("/sys/x/y").to_string(), "/sys/x/y: tsc");
        assert_eq!(fs.text("/sys/x/y").as_deref(), Some("tsc"));
        assert_eq!(fs.names("/sys/x").unwrap(), ["y"]);
        assert_eq!(fs.presence("/sys/x/y"), "/sys/x/y exists");
    }

    #[test]
    fn an_absent_file_says_its_path_and_why() {
        let dir = tempfile::tempdir().unwrap();
        let fs = Sysfs::at(dir.path());
        let reading = fs.read("/sys/none");
        assert_eq!(reading.to_string(), "/sys/none: ENOENT 2 (No such file or directory)");
        assert_eq!(reading.get(), None);
        assert_eq!(fs.names("/sys"), None);
        assert_eq!(fs.presence("/sys/none"), "/sys/none does not exist");
    }

    #[test]
    fn escape_sequences_and_length_are_tamed() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("long"), format!("\x1b[31m{}", "ab ".repeat(200))).unwrap();
        std::fs::write(dir.path().join("empty"), "").unwrap();
        let fs = Sysfs::at(dir.path());
        let shown = fs.read("/long").to_string();
        assert!(
            !shown.contains('\x1b') && shown.ends_with(" ...") && shown.len() < 200,
            "{shown}"
        );
        assert_eq!(fs.read("/empty").to_string(), "/empty: empty");
        assert_eq!(fs.read("/empty").number(), None);
    }
}
