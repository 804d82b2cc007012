//! The error of a command that failed: how it ended, when, and the end of its output; and why one could not be started.

use super::line::Line;
use crate::error::Error;
use crate::record::clean;
use crate::sys::spawn::Finished;
use cyclewise_report::files::programs;
use std::fmt;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

#[derive(Clone, Copy, Debug)]
pub(super) enum RunNumber {
    /// Sample n, of how many if known.
    Run(u32, Option<u32>),
    /// Untimed run n, of how many.
    Warmup(u32, u32),
}

impl fmt::Display for RunNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunNumber::Run(n, None) => write!(f, "run {n}"),
            // The runner may take more samples than planned, to replace spoiled ones.
            RunNumber::Run(n, Some(of)) if n > of => write!(f, "run {n}"),
            RunNumber::Run(n, Some(of)) => write!(f, "run {n} of {of}"),
            RunNumber::Warmup(n, of) => write!(f, "warm-up run {n} of {of}"),
        }
    }
}

impl RunNumber {
    /// As hyperfine numbers it in the environment.
    pub(super) fn iteration(self) -> String {
        match self {
            RunNumber::Run(n, _) => (n - 1).to_string(),
            RunNumber::Warmup(n, _) => format!("warmup-{}", n - 1),
        }
    }
}

pub(super) fn code(status: ExitStatus) -> i32 {
    status.code().or(status.signal().map(|s| 128 + s)).unwrap_or(-1)
}

/// How a run failed, for its count: `exited with status 3`, `ended by SIGSEGV`.
pub(super) fn kind(done: &Finished) -> String {
    match (done.over_limit, done.status.code(), done.status.signal()) {
        (true, ..) => "ran longer than --timeout".to_owned(),
        (_, Some(code), _) => format!("exited with status {code}"),
        (_, None, Some(signal)) => match signal_name(signal) {
            "" => format!("ended by signal {signal}"),
            name => format!("ended by {name}"),
        },
        (_, None, None) => format!("ended with {}", done.status),
    }
}

/// How a command ended, for an error.
pub(super) fn ended(done: &Finished, limit: Option<Duration>) -> String {
    let named = |signal| match signal_name(signal) {
        "" => String::new(),
        name => format!(" ({name})"),
    };
    match (done.status.code(), done.status.signal()) {
        _ if done.over_limit => format!(
            "ran longer than the {} s of --timeout, and was ended",
            limit.unwrap_or_default().as_secs_f64()
        ),
        (Some(127), _) => "exited with status 127, a shell's status for a command that is not found".to_string(),
        (Some(126), _) => "exited with status 126, a shell's status for a file that it may not execute".to_string(),
        (Some(code @ 129..=159), _) => format!(
            "exited with status {code}, a shell's status for signal {}{}",
            code - 128,
            named(code - 128)
        ),
        (Some(code), _) => format!("exited with status {code}"),
        (None, Some(signal)) => format!("was killed by signal {signal}{}", named(signal)),
        (None, None) => format!("ended with {}", done.status),
    }
}

/// Whether a command that ended so may be run once more: not one that somebody ended, or that runs too long.
pub(super) fn may_run_again(done: &Finished) -> bool {
    let ended_by_others = [libc::SIGKILL, libc::SIGTERM, libc::SIGINT, libc::SIGHUP, libc::SIGQUIT];
    let by_others = |signal| ended_by_others.contains(&signal);
    !done.over_limit && !done.status.signal().is_some_and(by_others) && !by_others(code(done.status) - 128)
}

/// The name of a signal that commonly kills commands.
fn signal_name(signal: i32) -> &'static str {
    match signal {
        libc::SIGHUP => "SIGHUP",
        libc::SIGINT => "SIGINT",
        libc::SIGQUIT => "SIGQUIT",
        libc::SIGILL => "SIGILL",
        libc::SIGTRAP => "SIGTRAP",
        libc::SIGABRT => "SIGABRT",
        libc::SIGBUS => "SIGBUS",
        libc::SIGFPE => "SIGFPE",
        libc::SIGKILL => "SIGKILL",
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGPIPE => "SIGPIPE",
        libc::SIGALRM => "SIGALRM",
        libc::SIGTERM => "SIGTERM",
        libc::SIGXCPU => "SIGXCPU",
        libc::SIGXFSZ => "SIGXFSZ",
        libc::SIGSYS => "SIGSYS",
        _ => "",
    }
}

/// The last lines of what a command printed when it was run once more, of which neither clears a screen or moves a cursor.
pub(super) fn printed(text: &str) -> String {
    if text.is_empty() {
        return "; run once more, it printed nothing".to_string();
    }
    format!("; run once more, its output ended:{}", clean::last_lines(text))
}

/// The error of a program that could not be started.
pub(super) fn not_started(line: &Line, what: &str, when: &str, e: &io::Error) -> Error {
    let program = &line.words[0];
    if line.by_shell && e.kind() == io::ErrorKind::NotFound {
        let what = format!("time: starting the shell `{program}`");
        return Error::system(&what, e, "install it, name another by --shell, or leave it out by -N");
    }
    let message = |remedy: &str| format!("{what} cannot be run{when}: {e}; {remedy}");
    match e.raw_os_error() {
        Some(libc::ENOENT) => Error::check(message(match programs::in_path(program) {
            None => "there is no such program: check its name and PATH",
            Some(_) => {
                "its file is there, but not the interpreter that its first line names, or the loader that it needs"
            }
        })),
        Some(libc::EACCES | libc::EPERM) => Error::check(message("it may not be executed: check its permissions")),
        Some(libc::ENOEXEC) => Error::check(message(
            "it is no program of this machine, or a script without a first line `#!`",
        )),
        Some(libc::ETXTBSY) => Error::check(message("its file is being written: wait for that")),
        Some(libc::E2BIG) => Error::check(message(
            "its arguments and the environment are too large: shorten them, or raise `ulimit -s`",
        )),
        Some(libc::EMFILE | libc::ENFILE) => Error::unsupported(message("no descriptor is left: raise `ulimit -n`")),
        Some(libc::EAGAIN) => Error::unsupported(message(
            "no process may be added: raise `ulimit -u` or the cgroup's pids.max",
        )),
        Some(libc::ENOMEM) => Error::unsupported(message("no memory is left: free some, or raise the cgroup's limit")),
        Some(libc::ECHILD) => Error::unsupported(message(
            "its status went to another: let this program's parent handle SIGCHLD, or start it from a shell",
        )),
        _ => Error::check(message("see the error")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::line::Shell;
    use super::*;

    #[test]
    fn the_advice_follows_the_error_and_the_call() {
        let advice = |shell: &Shell, errno: i32| {
            let line = Line::new("command", "/bin/sh x", shell).unwrap();
            not_started(
                &line,
                "command '/bin/sh x'",
                " (run 1)",
                &io::Error::from_raw_os_error(errno),
            )
        };
        for (errno, says) in [
            (libc::ENOENT, "not the interpreter"),
            (libc::EACCES, "permissions"),
            (libc::EMFILE, "ulimit -n"),
            (libc::EAGAIN, "ulimit -u"),
            (libc::ENOMEM, "memory"),
            (libc::ECHILD, "SIGCHLD"),
            (libc::E2BIG, "too large"),
        ] {
            let error = advice(&Shell::None, errno);
            assert!(error.message.contains(says), "{error}");
            assert_eq!(error.message.contains("ulimit -u"), errno == libc::EAGAIN, "{error}");
        }
        let missing = advice(&Shell::parse("/no/sh").unwrap(), libc::ENOENT);
        assert!(
            missing.message.contains("starting the shell `/no/sh`") && missing.message.contains("--shell"),
            "{missing}"
        );
        assert!(!missing.message.contains("no such program"), "{missing}");
    }
}
