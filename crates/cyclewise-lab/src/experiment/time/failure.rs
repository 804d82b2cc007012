//! The error of a command that failed: how it ended, when, and the end of its output.

use crate::error::Error;
use crate::record::clean;
use std::fmt;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// Bytes that are searched for the last lines, from the output's end.
const BYTES: u64 = 8192;

/// Which run it is.
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

/// `what` ended with `status` at `when`: an error with the end of `output`.
pub(super) fn explain(what: &str, when: &str, status: ExitStatus, output: &File, hint: &str) -> Error {
    let how = ended(status);
    let tail = tail(output).unwrap_or_else(|e| format!("; its output cannot be read back: {e}"));
    Error::check(format!("{what} {how}{when}{hint}{tail}"))
}

fn ended(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(127), _) => "exited with status 127, a shell's status for a command that is not found,".to_string(),
        (Some(126), _) => "exited with status 126, a shell's status for a file that it may not execute,".to_string(),
        (Some(code @ 129..=159), _) => format!(
            "exited with status {code}, a shell's status for signal {}{},",
            code - 128,
            signal_name(code - 128)
        ),
        (Some(code), _) => format!("exited with status {code}"),
        (None, Some(signal)) => format!("was killed by signal {signal}{}", signal_name(signal)),
        (None, None) => format!("ended with {status}"),
    }
    .trim_end_matches(',')
    .to_string()
}

/// The name, in parentheses, of a signal that commonly kills commands.
fn signal_name(signal: i32) -> &'static str {
    match signal {
        libc::SIGHUP => " (SIGHUP)",
        libc::SIGINT => " (SIGINT)",
        libc::SIGQUIT => " (SIGQUIT)",
        libc::SIGILL => " (SIGILL)",
        libc::SIGTRAP => " (SIGTRAP)",
        libc::SIGABRT => " (SIGABRT)",
        libc::SIGBUS => " (SIGBUS)",
        libc::SIGFPE => " (SIGFPE)",
        libc::SIGKILL => " (SIGKILL)",
        libc::SIGSEGV => " (SIGSEGV)",
        libc::SIGPIPE => " (SIGPIPE)",
        libc::SIGALRM => " (SIGALRM)",
        libc::SIGTERM => " (SIGTERM)",
        libc::SIGXCPU => " (SIGXCPU)",
        libc::SIGXFSZ => " (SIGXFSZ)",
        libc::SIGSYS => " (SIGSYS)",
        _ => "",
    }
}

fn tail(output: &File) -> io::Result<String> {
    let len = output.metadata()?.len();
    let from = len.saturating_sub(BYTES);
    let mut bytes = vec![0; (len - from) as usize];
    output.read_exact_at(&mut bytes, from)?;
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim_end();
    if text.is_empty() {
        return Ok("; it printed nothing".to_string());
    }
    Ok(format!("; its output ended:{}", clean::last_lines(text)))
}

/// The remedy for a program that could not be started.
pub(super) fn why_not_started(e: &io::Error) -> &'static str {
    match e.kind() {
        io::ErrorKind::NotFound => "there is no such program: check its name and PATH",
        io::ErrorKind::PermissionDenied => "it may not be executed: check its permissions",
        io::ErrorKind::InvalidInput => "its text cannot be passed to a program",
        _ => "check `ulimit -u` and the memory that is free",
    }
}
