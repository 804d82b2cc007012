//! memfd_create(2): files in memory that have no path and vanish with their last descriptor.

use super::errno::Errno;
use rustix::fs::{MemfdFlags, memfd_create};
use std::ffi::CStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::IntoRawFd;
use std::path::PathBuf;

/// Whether each kind of file can be created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// A plain one.
    pub plain: Result<(), Errno>,
    /// One that may be mapped PROT_EXEC, which `vm.memfd_noexec` = 2 refuses (MFD_EXEC, Linux 6.3).
    pub exec: Result<(), Errno>,
}

/// Creates both kinds and closes them.
pub fn probe() -> Probe {
    let made = |flags| create(c"cyclewise-doctor", flags).map(drop).map_err(|e| Errno::of(&e));
    Probe {
        plain: made(MemfdFlags::empty()),
        exec: made(MemfdFlags::EXEC),
    }
}

/// A file that is closed on exec.
///
/// # Errors
/// EMFILE; ENOSYS before Linux 3.17.
pub fn file(name: &CStr) -> io::Result<File> {
    create(name, MemfdFlags::empty())
}

/// A text as a file that a program finds under this path after exec(2).
///
/// # Errors
/// As [`file()`], and those of write(2).
pub fn kept_over_exec(name: &CStr, text: &str) -> io::Result<PathBuf> {
    let mut file = File::from(memfd_create(name, MemfdFlags::empty())?);
    file.write_all(text.as_bytes())?;
    Ok(format!("/proc/self/fd/{}", file.into_raw_fd()).into())
}

fn create(name: &CStr, flags: MemfdFlags) -> io::Result<File> {
    Ok(memfd_create(name, flags | MemfdFlags::CLOEXEC)?.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_flag_is_refused() {
        let error = create(c"test", MemfdFlags::from_bits_retain(1 << 20)).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EINVAL));
    }
}
