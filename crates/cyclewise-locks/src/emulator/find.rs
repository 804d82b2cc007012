//! The emulator of this machine, if there is one that can count.

use super::layout::PLUGIN;
use super::{plugin, sys};
use crate::counts::Arch;
use crate::error::{Error, Result, cannot_write};
use crate::sys::signals;
use std::ffi::{CString, OsStr};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The newest version of the plugins' interface whose functions the plugin knows: qemu 10.1.
const NEWEST: i32 = 5;
/// What to do where there is none.
const INSTALL: &str = "on Debian 12: apt-get install --no-install-recommends qemu-user";
/// Debian 13 links it statically, and so does its package for Debian 12 in backports.
const BUILD: &str = "where the distribution's is static, as Debian 13's, build qemu with --enable-plugins";

/// An emulator answers within milliseconds; a machine may be busy.
const ANSWERS_WITHIN: Duration = Duration::from_secs(20);
/// More bytes than any answer has.
const ANSWER: u64 = 1 << 20;

/// An emulator that takes the plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Emulator {
    pub path: PathBuf,
    /// The architecture of the programs that it runs.
    pub arch: Arch,
    /// What it says of its version, without the company: `qemu-x86_64 version 7.2.22 (Debian ...)`.
    pub version: String,
    /// The model of CPU to ask for; none where it does not know `max`, which has all the instructions it can emulate.
    pub cpu: Option<String>,
    /// The version of the interface that it takes.
    pub(super) interface: i32,
}

/// The name of the emulator of programs of `arch`.
pub(super) fn name_of(arch: Arch) -> &'static str {
    match arch {
        Arch::X86_64 => "qemu-x86_64",
        Arch::Aarch64 => "qemu-aarch64",
    }
}

/// Looks for the emulator of `arch` in PATH, and has it load the plugin.
pub fn find(arch: Arch) -> Result<Emulator> {
    find_in(arch, &std::env::var_os("PATH").unwrap_or_default())
}

fn find_in(arch: Arch, path: &OsStr) -> Result<Emulator> {
    let name = name_of(arch);
    let file = std::env::split_paths(path)
        .map(|folder| folder.join(name))
        .find(|file| file.is_file() && said(file, &["--version"]).is_some())
        .ok_or_else(|| Error::unsupported(format!("no {name} in PATH that can be started; {INSTALL}")))?;
    // Programs change their folder, and start others by this path.
    let file = std::path::absolute(&file).unwrap_or(file);
    let version = said(&file, &["--version"]).unwrap_or_default();
    let version = version.lines().next().unwrap_or_default().trim().to_owned();
    if !said(&file, &["-help"]).is_some_and(|help| help.contains("-plugin")) {
        return Err(Error::unsupported(format!(
            "{} ({version}) takes no plugins: its -help has no -plugin, as where it is linked statically; {INSTALL}; {BUILD}",
            file.display()
        )));
    }
    let cpu = said(&file, &["-cpu", "help"])
        .is_some_and(|list| list.split_whitespace().any(|word| word == "max"))
        .then(|| "max".to_owned());
    let interface = interface(&file, &version)?;
    Ok(Emulator {
        path: file,
        arch,
        version,
        cpu,
        interface,
    })
}

/// What the program writes to standard output, whatever its status; none where it cannot be started.
fn said(file: &Path, arguments: &[&str]) -> Option<String> {
    answer(clean(file).args(arguments), ANSWERS_WITHIN)
}

/// What a program writes to standard output within `limit`.
fn answer(command: &mut Command, limit: Duration) -> Option<String> {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    let stdout = child.stdout.take()?;
    let reader = std::thread::spawn(move || {
        let mut text = Vec::new();
        // Where it cannot be read, what came before is what it said.
        let _ = stdout.take(ANSWER).read_to_end(&mut text);
        text
    });
    let deadline = Instant::now() + limit;
    while !reader.is_finished() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(1));
    }
    // It has answered, or does not; either way nothing more is wanted of it.
    if !matches!(child.try_wait(), Ok(Some(_))) {
        let _ = child.kill();
    }
    let _ = child.wait();
    // What it started may have the pipe still, and is not waited for.
    let text = reader.is_finished().then(|| reader.join().ok()).flatten()?;
    Some(String::from_utf8_lossy(&text).into_owned())
}

/// A call that variables for the emulator or its dynamic linker do not change.
fn clean(file: &Path) -> Command {
    let mut command = Command::new(file);
    command.env_clear().stdin(Stdio::null());
    command
}

/// The version of plugins that the emulator takes, found by having it load this one.
fn interface(file: &Path, version: &str) -> Result<i32> {
    // A signal would leave the folder behind.
    let _signals = signals::hold();
    let folder = tempfile::tempdir().map_err(|error| cannot_write(&std::env::temp_dir(), &error))?;
    let plugin = folder.path().join(PLUGIN);
    let mut asked = 1;
    let mut answer = String::new();
    for _ in 0..2 {
        std::fs::write(&plugin, plugin::for_version(asked)?).map_err(|error| cannot_write(&plugin, &error))?;
        if let Some(error) = no_programs_there(&plugin) {
            return Err(error);
        }
        let mut spec = super::command_line::escaped(plugin.as_os_str());
        spec.push(",probe=on");
        let output = clean(file)
            .arg("-plugin")
            .arg(spec)
            .arg("/proc/self/exe")
            .output()
            .map_err(|error| Error::unsupported(format!("cannot start {}: {error}", file.display())))?;
        if output.status.success() {
            return Ok(asked);
        }
        answer = String::from_utf8_lossy(&output.stderr).trim().replace('\n', " ");
        match lowest(&answer) {
            Some(lowest) if lowest <= NEWEST => asked = lowest,
            Some(lowest) => {
                return Err(Error::unsupported(format!(
                    "{} ({version}) takes plugins of version {lowest} and later, and this cyclewise knows those to {NEWEST}; {INSTALL}",
                    file.display()
                )));
            }
            None => break,
        }
    }
    Err(Error::unsupported(format!(
        "{} ({version}) does not load the plugin: {answer}; {INSTALL}",
        file.display()
    )))
}

/// Why no plugin is loaded from there, where it is for the file system.
fn no_programs_there(plugin: &Path) -> Option<Error> {
    let path = CString::new(plugin.as_os_str().as_bytes()).ok()?;
    (!sys::file_system_executes(&path)).then(|| {
        Error::unsupported(format!(
            "the emulator cannot load a plugin from {}, which is on a file system mounted noexec; set TMPDIR to a folder on another",
            plugin.display()
        ))
    })
}

/// The lowest version that an emulator takes, in its words for a plugin that is too old.
fn lowest(answer: &str) -> Option<i32> {
    let (_, rest) = answer.split_once("minimum version of ")?;
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{ANSWER, answer, find_in, lowest};
    use crate::counts::Arch;
    use crate::emulator::executable::write_executable;
    use std::process::Command;
    use std::time::{Duration, Instant};

    #[test]
    fn emulators_that_do_not_end_their_answer() {
        let before = Instant::now();
        let ask = |line: &str, limit| answer(Command::new("sh").args(["-c", line]), Duration::from_millis(limit));
        assert_eq!(ask("echo it; exit 3", 20_000), Some("it\n".to_owned()));
        assert_eq!(ask("sleep 100", 50), None);
        // Nor does one that has others write on.
        assert_eq!(ask("sleep 3 & exit 0", 50), None);
        let endless = ask("while :; do echo a line; done", 20_000).map(|said| said.len() as u64);
        assert_eq!(endless, Some(ANSWER));
        assert!(before.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn what_an_emulator_says_of_an_old_plugin() {
        let said = "qemu-x86_64: Could not load plugin /p.so: plugin requires API version 1, but this QEMU supports only a minimum version of 2";
        assert_eq!(lowest(said), Some(2));
        assert_eq!(lowest("Could not load plugin: no such file"), None);
    }

    /// A program that answers as an emulator does.
    fn pretend(script: &str) -> (tempfile::TempDir, String) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("qemu-x86_64");
        write_executable(&file, format!("#!/bin/sh\n{script}\n"));
        let error = find_in(Arch::X86_64, folder.path().as_os_str()).unwrap_err();
        (folder, error.message)
    }

    #[test]
    fn what_there_is_to_install() {
        let error = find_in(Arch::Aarch64, "/nowhere".as_ref()).unwrap_err();
        assert_eq!(
            error.message,
            "no qemu-aarch64 in PATH that can be started; on Debian 12: apt-get install --no-install-recommends qemu-user"
        );
        let (_folder, message) = pretend("echo qemu-x86_64 version 7.0");
        assert!(message.contains("takes no plugins"), "{message}");
    }

    #[cfg(emulator_plugin)]
    #[test]
    fn emulators_that_refuse_the_plugin() {
        let (_folder, message) = pretend(
            "case $1 in -plugin) echo supports only a minimum version of 99 >&2; exit 1;; *) echo -plugin;; esac",
        );
        assert!(message.contains("version 99 and later"), "{message}");
        let (_folder, message) = pretend("case $1 in -plugin) echo out of order >&2; exit 1;; *) echo -plugin;; esac");
        assert!(message.contains("does not load the plugin: out of order"), "{message}");
    }
}
