//! Standard input as a socket to another process.

use rustix::fs::{Mode, OFlags, open};
use rustix::stdio::dup2_stdin;
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;

/// The socket that the parent process made standard input, which is empty from now on.
///
/// # Errors
/// Of dup(2), open(2) and dup2(2). ENOTSOCK is told when it is used.
pub fn take_socket() -> io::Result<UnixStream> {
    let socket = io::stdin().as_fd().try_clone_to_owned()?;
    dup2_stdin(open("/dev/null", OFlags::RDONLY, Mode::empty())?)?;
    Ok(UnixStream::from(socket))
}
