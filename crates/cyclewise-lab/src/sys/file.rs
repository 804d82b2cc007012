//! One file opened, read and closed with three system calls and nothing else, and the name of its file system.
//!
//! [`Path`](std::path::Path) based calls of the standard library may allocate, which a forked child must not.
//!
//! # Safety
//! Paths are C strings borrowed for the call; the buffer's length is passed with it; the descriptor is ours to close.
#![expect(unsafe_code, reason = "open, read, close")]

use std::ffi::CStr;
use std::io;

/// Which of the three calls failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// `open`.
    Open,
    /// `read`.
    Read,
    /// `close`.
    Close,
}

/// Opens `path` read-only, reads once into `buffer`, closes. Async-signal-safe.
///
/// # Errors
/// Which call failed, and what it said.
#[inline]
pub(crate) fn open_read_close(path: &CStr, buffer: &mut [u8]) -> Result<usize, (Step, io::Error)> {
    // SAFETY: a C string, read only.
    let fd = unsafe { libc::open(path.as_ptr(), libc::O_RDONLY) };
    if fd == -1 {
        return Err((Step::Open, io::Error::last_os_error()));
    }
    // SAFETY: writes at most the buffer's length.
    let got = unsafe { libc::read(fd, buffer.as_mut_ptr().cast(), buffer.len()) };
    let read_error = (got == -1).then(io::Error::last_os_error);
    // SAFETY: ours since three lines, and used no more.
    let closed = unsafe { libc::close(fd) };
    match (read_error, closed) {
        (Some(error), _) => Err((Step::Read, error)),
        (None, -1) => Err((Step::Close, io::Error::last_os_error())),
        (None, _) => Ok(got as usize),
    }
}

/// What kind of file system `path` is on; `None` where statfs fails.
pub(crate) fn file_system(path: &CStr) -> Option<String> {
    let kind = rustix::fs::statfs(path).ok()?.f_type as u64;
    // statfs(2) lists these; other kinds are given by number.
    let name = match kind {
        0xef53 => "ext2/ext3/ext4",
        0x0102_1994 => "tmpfs",
        0x5846_5342 => "xfs",
        0x9123_683e => "btrfs",
        0x794c_7630 => "overlayfs",
        0xf2f5_2010 => "f2fs",
        0x2fc1_2fc1 => "zfs",
        0x6969 => "nfs",
        0x6573_5546 => "fuse",
        0x0102_1997 => "9p",
        0x8584_58f6 => "ramfs",
        other => return Some(format!("type {other:#x}")),
    };
    Some(name.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_stops_at_the_buffers_end_and_a_missing_file_is_an_error_of_open() {
        let mut buffer = [0; 64];
        assert_eq!(open_read_close(c"/proc/self/status", &mut buffer).unwrap(), 64);
        let (step, error) = open_read_close(c"/does/not/exist", &mut buffer).unwrap_err();
        assert_eq!((step, error.raw_os_error()), (Step::Open, Some(libc::ENOENT)));
        let (step, error) = open_read_close(c"/", &mut buffer).unwrap_err();
        assert_eq!((step, error.raw_os_error()), (Step::Read, Some(libc::EISDIR)));
    }

    #[test]
    fn the_file_system_has_a_name() {
        assert_eq!(file_system(c"/does/not/exist"), None);
        assert_eq!(file_system(c"/proc/self").unwrap(), "type 0x9fa0");
    }
}
