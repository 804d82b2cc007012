//! Runs the `command` of the module above as a script does, and creates folders for its output. Tests of several packages include this file by
//! its path.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "each test program is a crate of its own, and uses a part"
)]

use super::command;
use std::path::PathBuf;
use std::process::Output;

/// The arguments in a line; none of them has a space.
pub fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

/// The arguments in a line, and further ones.
pub fn with<'a>(line: &'a str, rest: &[&'a str]) -> Vec<&'a str> {
    [&words(line)[..], rest].concat()
}

/// The command's result.
pub fn cyclewise(args: &[&str]) -> Output {
    command(args).output().unwrap()
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Asserts that a command is refused without printing results; returns the status and the error text.
pub fn refused(args: &[&str]) -> (i32, String) {
    let output = cyclewise(args);
    assert!(
        output.stdout.is_empty(),
        "{args:?} printed results: {}",
        text(&output.stdout)
    );
    (output.status.code().unwrap(), text(&output.stderr))
}

/// A folder that is deleted on drop.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn name(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// Writes a file with this text; returns its name.
    pub fn with(&self, name: &str, text: &str) -> String {
        std::fs::write(self.path(name), text).unwrap();
        self.name(name)
    }
}
