//! Processes, as /proc shows them.

use std::fs;
use std::path::Path;
use std::process::Command;

/// All of them.
pub(crate) fn all() -> Vec<u32> {
    fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}

/// Whether it is there and no zombie.
pub(crate) fn lives(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat"))
        .ok()
        .and_then(|stat| stat.rsplit_once(") ").map(|(_, rest)| !rest.starts_with('Z')))
        .unwrap_or(false)
}

/// The first 15 bytes of its program's name.
pub(crate) fn name(pid: u32) -> String {
    fs::read_to_string(format!("/proc/{pid}/comm"))
        .unwrap_or_default()
        .trim_end()
        .to_string()
}

/// Whether it was started with this variable, written `NAME=VALUE`.
pub(crate) fn has_variable(pid: u32, variable: &str) -> bool {
    fs::read(format!("/proc/{pid}/environ"))
        .is_ok_and(|environ| environ.split(|&byte| byte == 0).any(|v| v == variable.as_bytes()))
}

/// The value of a variable that it was started with.
pub(crate) fn variable(pid: u32, name: &str) -> Option<String> {
    let environ = fs::read(format!("/proc/{pid}/environ")).ok()?;
    environ.split(|&byte| byte == 0).find_map(|v| {
        let (n, value) = std::str::from_utf8(v).ok()?.split_once('=')?;
        (n == name).then(|| value.to_string())
    })
}

pub(crate) fn has_open(pid: u32, file: &Path) -> bool {
    fs::read_dir(format!("/proc/{pid}/fd"))
        .into_iter()
        .flatten()
        .flatten()
        .any(|entry| fs::read_link(entry.path()).is_ok_and(|target| target == file))
}

/// Sends a signal, as of kill(1). One that is gone already needs none.
pub(crate) fn signal(pid: u32, signal: &str) {
    let sent = Command::new("sh")
        .args(["-c", "kill -\"$0\" \"$1\"", signal, &pid.to_string()])
        .output()
        .unwrap();
    assert!(sent.status.success() || !lives(pid), "{sent:?}");
}
