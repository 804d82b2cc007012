//! ioctl(2) for requests whose argument is a number.
//!
//! # Safety
//! 1. A request of [`number`]'s callers takes no pointer, so the kernel reads and writes no memory of ours.
#![expect(unsafe_code, reason = "ioctl is a foreign function")]

use std::ffi::{c_int, c_ulong};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// A request that takes a number and no pointer; callers keep to Safety 1.
pub struct Request(c_ulong);

impl Request {
    /// `_IO(KVMIO, 0x00)` (include/uapi/linux/kvm.h).
    pub const KVM_GET_API_VERSION: Self = Self(0xae00);
    /// `_IO('$', 0)` (include/uapi/linux/perf_event.h): enables an event, and those that children inherited.
    pub const PERF_ENABLE: Self = Self(0x2400);
    /// `_IO('$', 1)`: disables them.
    pub const PERF_DISABLE: Self = Self(0x2401);
    /// `_IO('$', 5)`: writes an event's records into the ring of another one, a descriptor.
    pub const PERF_SET_OUTPUT: Self = Self(0x2405);
}

/// Issues `request` with `argument`, and returns the kernel's number.
pub fn number(device: BorrowedFd<'_>, request: Request, argument: c_ulong) -> io::Result<c_int> {
    // SAFETY: the descriptor is borrowed, and the request takes a number (Safety 1).
    let answer = unsafe { libc::ioctl(device.as_raw_fd(), request.0 as _, argument) };
    if answer < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn a_file_that_is_no_device_refuses() {
        let file = tempfile::tempfile().unwrap();
        let error = number(file.as_fd(), Request::PERF_ENABLE, 0).unwrap_err();
        // qemu-user passes on the requests that it knows, and says of others that there is no such call.
        assert!(
            matches!(error.raw_os_error(), Some(libc::ENOTTY | libc::ENOSYS)),
            "{error}"
        );
    }
}
