//! Processes that are still counted in a run's folder.

use super::command_line::{Launcher, escaped};
use super::layout::PLUGIN;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Processes that end with the program end within so long: those of a pipe, or those that are killed.
const END_WITHIN: Duration = Duration::from_millis(100);
/// More names than anybody reads.
const NAMES: usize = 5;

/// A line about them, if there are any.
pub(super) fn line(folder: &Path) -> Option<String> {
    let deadline = Instant::now() + END_WITHIN;
    let mut running = programs(folder);
    while !running.is_empty() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
        running = programs(folder);
    }
    if running.is_empty() {
        return None;
    }
    let names: BTreeSet<String> = running.iter().map(|p| p.display().to_string()).collect();
    let more = if names.len() > NAMES { ", ..." } else { "" };
    let names: Vec<String> = names.into_iter().take(NAMES).collect();
    Some(format!(
        "incomplete: {} processes were still running when the program had ended ({}{more}): these are their counts until then",
        running.len(),
        names.join(", ")
    ))
}

/// The program of each process whose emulator has the folder's plugin. The emulator's own command line says so, which the program
/// does not change.
fn programs(folder: &Path) -> Vec<PathBuf> {
    let plugin = escaped(folder.join(PLUGIN).as_os_str());
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_name().as_bytes().iter().all(u8::is_ascii_digit))
        // One that has ended since, or ends and has no memory any more, has no command line.
        .filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
        .filter_map(|line| program(&line, &plugin))
        .collect()
}

fn program(line: &[u8], plugin: &OsString) -> Option<PathBuf> {
    let mut words = line.split(|b| *b == 0).skip(1);
    if words.next()? != b"-plugin" || !words.next()?.starts_with(plugin.as_bytes()) {
        return None;
    }
    let (_, command) = Launcher::parse(PathBuf::new(), PathBuf::new(), line);
    command.first().map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::program;
    use std::path::PathBuf;

    #[test]
    fn command_lines() {
        let plugin = "/tmp/run/plugin.so".into();
        let own = b"qemu\0-plugin\0/tmp/run/plugin.so,dir=/tmp/run\0-0\0name\0/bin/sleep\09\0";
        assert_eq!(program(own, &plugin), Some(PathBuf::from("/bin/sleep")));
        let others = b"qemu\0-plugin\0/tmp/other/plugin.so,dir=/tmp/run\0/bin/sleep\0";
        assert_eq!(program(others, &plugin), None);
        assert_eq!(program(b"grep\0/tmp/run/plugin.so\0", &plugin), None);
        assert_eq!(program(b"", &plugin), None);
    }
}
