//! Runs the command as a script does, and creates folders for its output.
#![allow(unreachable_pub, reason = "the signals are other test programs' too")]

#[path = "../../../cyclewise-locks/tests/common/signals.rs"]
mod signals;

use std::path::PathBuf;
use std::process::{Command, Output};

/// The command with these arguments, with signals as at a terminal.
pub(crate) fn command(args: &[&str]) -> Command {
    signals::with_default_signals(Command::new(env!("CARGO_BIN_EXE_cyclewise-sim")).args(args))
}

/// The command's result.
pub(crate) fn cyclewise_sim(args: &[&str]) -> Output {
    command(args).output().unwrap()
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Asserts that a command is refused without printing results; returns the status and the error text.
pub(crate) fn refused(args: &[&str]) -> (i32, String) {
    let output = cyclewise_sim(args);
    assert!(
        output.stdout.is_empty(),
        "{args:?} printed results: {}",
        text(&output.stdout)
    );
    (output.status.code().unwrap(), text(&output.stderr))
}

/// A folder that is deleted on drop.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn name(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }
}
