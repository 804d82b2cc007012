//! `cyclewise locks -- cargo bench`: cargo and rustc run as ever, and the programs that cargo starts are counted.
//!
//! Cargo starts a built program by its target's runner, where one is set. Ours is this program, which counts the program into a
//! folder (`runner.rs`).

use super::program::Program;
use super::{PartOptions, exit};
use crate::error::{Error, Result};
use crate::record::{Exit, Part};
use cyclewise_bench::sys::{interrupt, process};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

/// Subcommands of cargo that start what they built, with their short names.
const STARTS: &[&str] = &["bench", "nextest", "r", "run", "t", "test"];

/// Whether it is cargo, told to build programs and start them.
pub(super) fn is_cargo(program: &Program) -> bool {
    program.path.file_stem().is_some_and(|name| name == "cargo")
        && program
            .arguments
            .iter()
            .any(|word| STARTS.iter().any(|name| word == name))
}

/// Runs cargo, and returns what the programs that it started were counted to, with cargo's own end. There are none where it failed before.
///
/// # Errors
/// Exit 3: the runner cannot be set. Exit 1: cargo started no program.
pub(super) fn count(cargo: &Program, options: &PartOptions<'_>) -> Result<(Vec<Part>, Exit)> {
    let folder = tempfile::Builder::new()
        .prefix("cyclewise-locks-")
        .tempdir()
        .map_err(|e| Error::system("a folder for the counts", &e, "name another place by TMPDIR"))?;
    let program =
        std::env::current_exe().map_err(|e| Error::system("this program's own path", &e, "give its full path"))?;
    let runner = runner(&program, folder.path(), options)?;
    let mut command = Command::new(&cargo.path);
    command.args(&cargo.arguments);
    for triple in triples(cargo)? {
        command.env(variable(&triple), &runner);
    }
    let status = command
        .spawn()
        .and_then(|child| wait(child, folder.path()))
        .map_err(|e| Error::usage(format!("{}: {e}; check that cargo works", cargo.path.display())))?;
    let exit = exit(status);
    let (mut parts, torn) = Part::read_all(folder.path())?;
    let Some(first) = parts.first_mut() else {
        if !status.success() {
            // Cargo has said why, and its status is ours.
            return Ok((parts, exit));
        }
        return Err(Error {
            possible: true,
            ..Error::check(format!(
                "cargo ended with {status} and started no program that was counted{}; if a target other than the host's is set in a \
                 configuration, name it by --target",
                torn.first().map_or(String::new(), |why| format!(" ({why})"))
            ))
        });
    };
    first.notes.extend(torn);
    Ok((parts, exit))
}

/// The time between two looks at whether a signal has asked this process to end.
const LOOK: Duration = Duration::from_millis(10);
/// How long the others may take to end by themselves: a terminal sends the signal to all.
const GRACE: Duration = Duration::from_secs(1);

/// Waits for cargo. A signal that asks this process to end is passed on to the runners, which leave their counts, or to cargo if it builds.
fn wait(mut cargo: Child, folder: &Path) -> io::Result<ExitStatus> {
    let mut asked: Option<Instant> = None;
    loop {
        if let Some(status) = cargo.try_wait()? {
            return Ok(status);
        }
        if interrupt::asked() && asked.get_or_insert_with(Instant::now).elapsed() >= GRACE {
            asked = Some(Instant::now());
            match runners(folder)?.as_slice() {
                [] => process::terminate(cargo.id()),
                runners => runners.iter().for_each(|pid| process::terminate(*pid)),
            }
        }
        std::thread::sleep(LOOK);
    }
}

/// What the file of a running runner is called before its number.
const RUNNING: &str = "running-";

/// Tells, as long as it lives, that this process is a runner.
pub(super) struct Running(PathBuf);

impl Running {
    /// From now on. A runner that cannot tell it does its work all the same.
    pub(super) fn tell(folder: &Path) -> Self {
        let file = folder.join(format!("{RUNNING}{}", std::process::id()));
        let _ = std::fs::write(&file, "");
        Self(file)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// The runners that have told that they run. One that was killed leaves its file, and its number may be another program's by now.
fn runners(folder: &Path) -> io::Result<Vec<u32>> {
    let number = |name: &OsStr| name.to_str()?.strip_prefix(RUNNING)?.parse().ok();
    let entries = std::fs::read_dir(folder)?;
    let told = entries.filter_map(|e| number(&e.ok()?.file_name()));
    Ok(told.filter(|pid| is_runner(*pid)).collect())
}

fn is_runner(pid: u32) -> bool {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    line.split(|byte| *byte == 0).any(|word| word == b"locks-runner")
}

/// The runner as cargo reads it from a variable: words, between spaces.
fn runner(program: &Path, folder: &Path, options: &PartOptions<'_>) -> Result<OsString> {
    for path in [program, folder].into_iter().chain(options.sysroot) {
        if path.to_str().is_none_or(|path| path.contains(char::is_whitespace)) {
            return Err(Error::unsupported(format!(
                "{}: cargo takes no runner whose path has a space; install cyclewise elsewhere, or name another folder by TMPDIR or --sysroot",
                path.display()
            )));
        }
    }
    let sysroot = options
        .sysroot
        .map_or_else(String::new, |root| format!(" --sysroot {}", root.display()));
    Ok(format!(
        "{} locks-runner {} --by {} --native-runs {} --processes {}{}{sysroot} --",
        program.display(),
        folder.display(),
        options.way.by().name(),
        options.native_runs,
        options.processes,
        if options.callers { "" } else { " --no-callers" }
    )
    .into())
}

/// The variable of a target's runner.
fn variable(triple: &str) -> String {
    format!("CARGO_TARGET_{}_RUNNER", triple.to_uppercase().replace(['-', '.'], "_"))
}

/// The targets that cargo may build for: the host's, and those that are named.
fn triples(cargo: &Program) -> Result<Vec<String>> {
    let mut named = targets(&cargo.arguments);
    named.extend(std::env::var("CARGO_BUILD_TARGET"));
    // A toolchain is named before anything else.
    let toolchain = cargo
        .arguments
        .first()
        .filter(|word| word.as_encoded_bytes().starts_with(b"+"));
    let output = Command::new(&cargo.path).args(toolchain).arg("-vV").output();
    let output =
        output.map_err(|e| Error::usage(format!("{} -vV: {e}; check that cargo works", cargo.path.display())))?;
    let text = String::from_utf8_lossy(&output.stdout);
    match (host(&text), named.is_empty()) {
        (Some(host), _) => named.push(host.to_owned()),
        (None, true) => {
            return Err(Error::usage(format!(
                "{} -vV names no host ({}); check that cargo works, or name the target by --target",
                cargo.path.display(),
                output.status
            )));
        }
        (None, false) => {}
    }
    Ok(named)
}

/// The host in what `cargo -vV` says.
fn host(text: &str) -> Option<&str> {
    text.lines().find_map(|line| line.strip_prefix("host: ")).map(str::trim)
}

/// Targets named by `--target`.
fn targets(arguments: &[OsString]) -> Vec<String> {
    // What follows `--` is the program's.
    let ours: Vec<&OsStr> = arguments
        .iter()
        .map(OsString::as_os_str)
        .take_while(|word| *word != "--")
        .collect();
    let after = ours
        .windows(2)
        .filter(|pair| pair[0] == "--target")
        .filter_map(|pair| pair[1].to_str());
    let joined = ours.iter().filter_map(|word| word.to_str()?.strip_prefix("--target="));
    after.chain(joined).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_another_program_has_by_now_is_no_runner() {
        let folder = tempfile::tempdir().unwrap();
        // This process has told it, and is none.
        let told = Running::tell(folder.path());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(runners(folder.path()).unwrap().is_empty());
        drop(told);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    fn program(path: &str, line: &str) -> Program {
        Program {
            named: path.into(),
            path: path.into(),
            arguments: line.split(' ').map(OsString::from).collect(),
        }
    }

    #[test]
    fn cargo_is_known_where_it_starts_programs() {
        for line in ["bench", "+nightly test --release", "run -- --flag"] {
            assert!(is_cargo(&program("/usr/bin/cargo", line)), "{line}");
        }
        assert!(!is_cargo(&program("/usr/bin/cargo", "build")));
        assert!(!is_cargo(&program("/usr/bin/make", "test")));
    }

    #[test]
    fn the_targets_are_the_hosts_and_those_named() {
        assert_eq!(
            variable("x86_64-unknown-linux-gnu"),
            "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER"
        );
        let said = "cargo 1.95.0\nrelease: 1.95.0\nhost: x86_64-unknown-linux-gnu\nos: Debian\n";
        assert_eq!(host(said), Some("x86_64-unknown-linux-gnu"));
        assert_eq!(host("no host"), None);
        let line = program("cargo", "test --target a-b-c --target=d-e-f -- --target no");
        assert_eq!(targets(&line.arguments), ["a-b-c", "d-e-f"]);
    }
}
