//! /dev/kvm: whether it opens, and which version of the interface it speaks.

use super::errno::Errno;
use super::ioctl::{self, Request};
use std::fs::OpenOptions;
use std::os::fd::AsFd;

/// The version of the interface; 12 on every kernel since 2.6.22.
///
/// # Errors
/// ENOENT without the device, EACCES where its permissions forbid it, ENODEV or ENXIO without CPU support.
pub(crate) fn api_version() -> Result<i32, Errno> {
    let of = |e| Errno::of_error(&e);
    let device = OpenOptions::new().read(true).write(true).open("/dev/kvm").map_err(of)?;
    ioctl::number(device.as_fd(), Request::KVM_GET_API_VERSION, 0).map_err(of)
}
