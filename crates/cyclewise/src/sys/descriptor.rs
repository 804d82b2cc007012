//! A file that is opened by its path, and closed when it is dropped.
//!
//! A seccomp filter can answer a call without making it, with an errno or with 0. For open(2), 0 is standard input where
//! that was closed, and else it is somebody else's file, which must be neither used nor closed. So an answer of 0 is
//! believed only where the same call of a path that cannot exist fails.
//!
//! # References
//! seccomp(2), SECCOMP_RET_ERRNO; open(2): an empty path is ENOENT.
//!
//! # Safety
//! 1. The kernel reads a path up to its NUL.
//! 2. A descriptor is closed once, by the [`Descriptor`] that opened it or was given it.
#![expect(unsafe_code, reason = "open, close")]

use super::errno;
use core::ffi::CStr;

/// An open file.
pub(super) struct Descriptor(libc::c_int);

impl Descriptor {
    /// Opens `path`; closed on exec.
    ///
    /// # Errors
    /// The kernel's errno; ENOSYS where a filter says that it went well.
    pub(super) fn open(path: &CStr, flags: libc::c_int) -> Result<Self, i32> {
        match open(path, flags) {
            number if number < 0 => Err(errno::last()),
            0 if open(c"", flags) >= 0 => Err(libc::ENOSYS),
            number => Ok(Self(number)),
        }
    }

    /// [`open`](Self::open), with a refusal that names `call`.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    #[cfg(any(target_arch = "x86_64", all(feature = "std", target_env = "gnu")))]
    pub(super) fn open_for(path: &CStr, flags: libc::c_int, call: &'static str) -> Result<Self, crate::error::Refusal> {
        Self::open(path, flags).map_err(|errno| crate::error::Refusal::System { call, errno })
    }

    /// An open file that the caller hands over, or looks at and does not drop.
    #[cfg(all(feature = "std", target_arch = "x86_64", target_env = "gnu"))]
    pub(super) fn of_number(number: libc::c_int) -> Self {
        Self(number)
    }

    pub(super) fn number(&self) -> libc::c_int {
        self.0
    }
}

fn open(path: &CStr, flags: libc::c_int) -> libc::c_int {
    // SAFETY: Invariant 1; no mode is read, because no flag here creates a file.
    unsafe { libc::open(path.as_ptr(), flags | libc::O_CLOEXEC) }
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        // SAFETY: Invariant 2.
        unsafe { libc::close(self.0) };
    }
}
