//! Socket pairs and pipes, as files: reading and writing are plain `read` and `write`.
//!
//! `File` rather than `UnixStream`, whose `read` is `recv`: one code, and one system call, for both kinds.
//!
//! # Safety
//! poll reads and writes one `pollfd` of ours; fcntl takes numbers.
#![expect(unsafe_code, reason = "poll, fcntl")]

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// What carries the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `socketpair(AF_UNIX, SOCK_STREAM)`.
    SocketPair,
    /// `pipe`.
    Pipe,
}

/// Two ends. Closed on exec, so that a command started meanwhile does not keep them open.
pub struct Pair {
    /// The end to read from.
    pub read: File,
    /// The end to write to.
    pub write: File,
}

impl Pair {
    /// Makes a pair.
    ///
    /// # Errors
    /// EMFILE, ENFILE at a limit of open files.
    pub fn new(kind: Kind) -> io::Result<Self> {
        let (read, write): (OwnedFd, OwnedFd) = match kind {
            Kind::SocketPair => UnixStream::pair().map(|(r, w)| (r.into(), w.into()))?,
            Kind::Pipe => io::pipe().map(|(r, w)| (r.into(), w.into()))?,
        };
        Ok(Self {
            read: read.into(),
            write: write.into(),
        })
    }
}

/// Waits until `file` can be read, or for `timeout` (`None`: for ever). Says whether it can.
///
/// # Errors
/// What poll says; a signal is not an error.
pub fn wait_readable(file: &File, timeout: Option<Duration>) -> io::Result<bool> {
    let mut fd = libc::pollfd {
        fd: file.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    let timeout_ms = timeout.map_or(-1, |t| i32::try_from(t.as_millis()).unwrap_or(i32::MAX));
    loop {
        // SAFETY: one pollfd, and the count says one.
        match unsafe { libc::poll(&mut fd, 1, timeout_ms) } {
            -1 => {
                let error = io::Error::last_os_error();
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
            n => return Ok(n > 0),
        }
    }
}

/// Makes calls on `file`, from whatever thread, fail with EAGAIN where they would begin to block.
///
/// # Errors
/// What fcntl says.
pub fn set_nonblocking(file: &File) -> io::Result<()> {
    // SAFETY: F_GETFL takes and returns numbers.
    let flags = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETFL) };
    if flags == -1 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: F_SETFL takes numbers.
    match unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETFL, flags | libc::O_NONBLOCK) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    #[test]
    fn both_kinds_carry_bytes_and_end_when_the_writer_does() {
        for kind in [Kind::SocketPair, Kind::Pipe] {
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
