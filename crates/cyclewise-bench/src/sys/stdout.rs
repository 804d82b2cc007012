//! Standard output for another: the programs that are started write to stderr, and this process keeps what was stdout.

use rustix::stdio::dup2_stdout;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;

/// Makes stdout a copy of stderr, for this process and those that it starts; returns what stdout was.
///
/// # Errors
/// EMFILE; EBADF where the process was started without either.
pub fn lend_stderr() -> io::Result<File> {
    // The copy is closed on exec, so that no program holds the pipe of a reader open.
    let kept = io::stdout().as_fd().try_clone_to_owned()?;
    dup2_stdout(io::stderr())?;
    Ok(kept.into())
}
