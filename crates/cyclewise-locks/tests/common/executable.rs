//! Files that tests execute. Another process writes them: what this process has open for writing, a process that another thread
//! starts meanwhile has open too until it executes its program, and the kernel executes no such file (ETXTBSY).
#![allow(dead_code, reason = "some test programs use a part")]

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

pub(crate) fn write_executable(path: &Path, contents: impl AsRef<[u8]>) {
    let mut shell = Command::new("sh");
    shell.args(["-c", "cat >\"$0\" && chmod 755 \"$0\""]).arg(path);
    let mut child = shell.stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(contents.as_ref()).unwrap();
    assert!(child.wait().unwrap().success());
}

/// Copies one.
pub(crate) fn copy_executable(from: &Path, to: &Path) {
    assert!(
        Command::new("cp")
            .arg("--")
            .args([from, to])
            .status()
            .unwrap()
            .success()
    );
}
