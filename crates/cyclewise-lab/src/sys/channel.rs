//! Socket pairs and pipes, as files: reading and writing are plain `read` and `write`.
//!
//! `File` rather than `UnixStream`, whose `read` is `recv`: both kinds use the same code and the same system call.

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelKind {
    /// `socketpair(AF_UNIX, SOCK_STREAM)`.
    SocketPair,
    /// `pipe`.
    Pipe,
}

/// Two ends. Closed on exec, so that a command started later does not keep them open.
pub struct Pair {
    pub read: File,
    pub write: File,
}

impl Pair {
    /// Makes a pair.
    ///
    /// # Errors
    /// EMFILE, ENFILE at a limit of open files.
    pub fn new(kind: ChannelKind) -> io::Result<Self> {
        let (read, write): (OwnedFd, OwnedFd) = match kind {
            ChannelKind::SocketPair => UnixStream::pair().map(|(r, w)| (r.into(), w.into()))?,
            ChannelKind::Pipe => io::pipe().map(|(r, w)| (r.into(), w.into()))?,
        };
        Ok(Self {
            read: read.into(),
            write: write.into(),
        })
    }
}

/// Waits until `file` can be read, or for `timeout` (`None`: for ever). Returns whether it can.
///
/// # Errors
/// What poll returns; a signal is not an error.
pub fn wait_readable(file: &File, timeout: Option<Duration>) -> io::Result<bool> {
    let timeout = timeout.and_then(|t| t.try_into().ok());
    loop {
        match poll(&mut [PollFd::new(file, PollFlags::IN)], timeout.as_ref()) {
            Err(Errno::INTR) => {}
            ready => return Ok(ready? > 0),
        }
    }
}

/// Makes calls on `file`, from any thread, fail with EAGAIN instead of blocking.
pub fn set_nonblocking(file: &File) -> io::Result<()> {
    Ok(fcntl_setfl(file, fcntl_getfl(file)? | OFlags::NONBLOCK)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    #[test]
    fn both_kinds_carry_bytes_and_end_when_the_writer_does() {
        for kind in [ChannelKind::SocketPair, ChannelKind::Pipe] {
            let Pair { mut read, mut write } = Pair::new(kind).unwrap();
            assert!(!wait_readable(&read, Some(Duration::ZERO)).unwrap());
            write.write_all(b"abc").unwrap();
            assert!(wait_readable(&read, None).unwrap());
            let mut got = [0; 3];
            read.read_exact(&mut got).unwrap();
            assert_eq!(&got, b"abc");
            set_nonblocking(&read).unwrap();
            assert_eq!(read.read(&mut got).unwrap_err().kind(), io::ErrorKind::WouldBlock);
            drop(write);
            assert_eq!(read.read(&mut got).unwrap(), 0);
        }
    }
}
