//! A file that is opened by its path, and closed on drop.
//!
//! A seccomp filter can answer a call without making it, with an errno or with 0. For open(2), 0 is standard input where
//! that was closed; else it is another file's number, which must be neither used nor closed. So 0 is accepted only where
//! opening a path that cannot exist fails.
//!
//! # References
//! seccomp(2), SECCOMP_RET_ERRNO; open(2): an empty path is ENOENT.
//!
//! # Safety
//! 1. The kernel reads a path up to its NUL, and writes at most the length of the buffer it is given.
//! 2. A descriptor is closed once, by the [`File`] that opened it or was given it.
#![expect(unsafe_code, reason = "open, read, close")]

use super::cancellation::held_off;
use super::errno;
use crate::error::Refusal;
use core::ffi::{CStr, c_int};

pub(super) struct File(c_int);

impl File {
    /// Opens `path`; closed on exec.
    ///
    /// # Errors
    /// The kernel's errno; ENOSYS where a filter answers 0.
    pub(super) fn open(path: &CStr, flags: c_int) -> Result<Self, i32> {
        match open(path, flags) {
            number if number < 0 => Err(errno::get()),
            0 if open(c"", flags) >= 0 => Err(libc::ENOSYS),
            number => Ok(Self(number)),
        }
    }

    /// [`open`](Self::open), with a refusal that names `call`.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub(super) fn open_for(path: &CStr, flags: c_int, call: &'static str) -> Result<Self, Refusal> {
        Self::open(path, flags).map_err(|errno| Refusal::System { call, errno })
    }

    /// An open file that the caller hands over, or looks at and does not drop.
    pub(super) fn of_number(number: c_int) -> Self {
        Self(number)
    }

    pub(super) fn number(&self) -> c_int {
        self.0
    }

    /// Reads the next bytes; how many, 0 at the end.
    ///
    /// # Errors
    /// The kernel's errno.
    pub(super) fn read(&self, buffer: &mut [u8]) -> Result<usize, i32> {
        // SAFETY: the kernel writes at most the buffer's length (Invariant 1).
        let n = held_off(|| unsafe { libc::read(self.0, buffer.as_mut_ptr().cast(), buffer.len()) });
        usize::try_from(n).map_err(|_| errno::get())
    }
}

fn open(path: &CStr, flags: c_int) -> c_int {
    // SAFETY: Invariant 1; no mode is read, because no flag here creates a file.
    held_off(|| unsafe { libc::open(path.as_ptr(), flags | libc::O_CLOEXEC) })
}

impl Drop for File {
    fn drop(&mut self) {
        // SAFETY: Invariant 2.
        held_off(|| unsafe { libc::close(self.0) });
    }
}
