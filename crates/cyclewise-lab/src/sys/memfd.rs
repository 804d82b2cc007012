//! memfd_create(2): whether anonymous files can be had, sealed and executable ones as well.
//!
//! # Safety
//! The descriptor is closed by the `OwnedFd` that takes it right after the call.
#![expect(unsafe_code, reason = "memfd_create is a foreign function")]

use super::errno::Errno;
use std::os::fd::{FromRawFd, OwnedFd};

/// May be mapped PROT_EXEC; a request that `vm.memfd_noexec` = 2 refuses (include/uapi/linux/memfd.h, Linux 6.3).
const MFD_EXEC: libc::c_uint = 0x10;

/// What memfd_create said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// A plain one.
    pub plain: Result<(), Errno>,
    /// One that may be executed (MFD_EXEC).
    pub exec: Result<(), Errno>,
}

/// Creates both kinds and closes them.
pub fn probe() -> Probe {
    Probe {
        plain: create(libc::MFD_CLOEXEC).map(drop),
        exec: create(libc::MFD_CLOEXEC | MFD_EXEC).map(drop),
    }
}

fn create(flags: libc::c_uint) -> Result<OwnedFd, Errno> {
    // SAFETY: the name is a C string literal.
    let fd = unsafe { libc::memfd_create(c"cyclewise-doctor".as_ptr(), flags) };
    if fd < 0 {
        return Err(Errno::last());
    }
    // SAFETY: the descriptor is fresh, and nobody else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_flag_is_refused() {
        assert_eq!(create(1 << 20).map(drop), Err(Errno(libc::EINVAL)));
    }
}
