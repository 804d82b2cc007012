//! mmap(2), munmap(2): a mapping of our own.
//!
//! # Invariants
//! 1. `start` is the start of a mapping of `length` bytes that nobody else knows, from [`Mapping::new`] until `drop`.
//!
//! # Safety
//! A new mapping at an address that the kernel chooses touches no memory in use.
#![expect(unsafe_code, reason = "mmap, munmap")]

use std::ffi::c_int;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr::{self, NonNull};

/// A mapping, unmapped when it is dropped.
pub struct Mapping {
    start: NonNull<u8>,
    length: usize,
}

impl Mapping {
    /// Maps `length` bytes of `file` from its start, or of zeroes where there is none.
    ///
    /// # Errors
    /// EACCES, EPERM where a policy forbids the protection; ENOMEM.
    pub fn new(file: Option<&File>, length: usize, protection: c_int, flags: c_int) -> io::Result<Self> {
        let (flags, fd) = match file {
            None => (flags | libc::MAP_ANONYMOUS, -1),
            Some(file) => (flags, file.as_raw_fd()),
        };
        // SAFETY: a new mapping, where the kernel chooses.
        let start = unsafe { libc::mmap(ptr::null_mut(), length, protection, flags, fd, 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        match NonNull::new(start.cast()) {
            Some(start) => Ok(Self { start, length }),
            None => Err(io::Error::from_raw_os_error(libc::EFAULT)),
        }
    }

    /// Where it starts (Invariant 1).
    pub fn start(&self) -> NonNull<u8> {
        self.start
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: ours alone, and not used after this (Invariant 1).
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.length) };
    }
}
