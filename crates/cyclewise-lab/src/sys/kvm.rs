//! /dev/kvm: whether it opens, and which version of the interface it speaks.
//!
//! # Safety
//! The only request issued takes no pointer and changes nothing.
#![expect(unsafe_code, reason = "ioctl is a foreign function")]

use super::errno::Errno;
use std::fs::OpenOptions;
use std::os::fd::AsRawFd;

/// `_IO(KVMIO, 0x00)` (include/uapi/linux/kvm.h).
const KVM_GET_API_VERSION: libc::c_ulong = 0xae00;

/// The version of the interface; 12 on every kernel since 2.6.22.
///
/// # Errors
/// ENOENT without the device, EACCES where its permissions forbid it, ENODEV or ENXIO without CPU support.
pub(crate) fn api_version() -> Result<i32, Errno> {
    let device = OpenOptions::new()
        .read(true)
        .write(true)
        .open("/dev/kvm")
        .map_err(|e| Errno::of(&e))?;
    // SAFETY: the descriptor is open for as long as `device` lives, and the request's argument is ignored.
    let version = unsafe { libc::ioctl(device.as_raw_fd(), KVM_GET_API_VERSION as _, 0) };
    if version < 0 { Err(Errno::last()) } else { Ok(version) }
}
