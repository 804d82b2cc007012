//! uname(2): which kernel this is.
//!
//! # Safety
//! 1. The kernel fills one `struct utsname`, whose names end with a NUL.
#![expect(unsafe_code, reason = "uname")]

use core::ffi::CStr;
use core::mem::MaybeUninit;

/// The first two numbers of the kernel's version; `None` where it does not say. A process may be told an older one
/// (UNAME26 of personality(2)).
pub(crate) fn release() -> Option<(u32, u32)> {
    // Zeroes: a filter may answer 0, and then the kernel has not written it.
    let mut names = MaybeUninit::<libc::utsname>::zeroed();
    // SAFETY: room for the names (Invariant 1). By number: a preloaded library may replace the function.
    let rc = unsafe { libc::syscall(libc::SYS_uname, names.as_mut_ptr()) };
    // SAFETY: all zeroes is valid, whether or not the kernel has filled it.
    let names = unsafe { names.assume_init() };
    // SAFETY: ends with a NUL, the kernel's or one of the zeroes (Invariant 1).
    let release = unsafe { CStr::from_ptr(names.release.as_ptr()) };
    (rc == 0).then(|| numbers(release)).flatten()
}

pub(super) fn numbers(release: &CStr) -> Option<(u32, u32)> {
    let (first, rest) = release.to_str().ok()?.split_once('.')?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    Some((first.parse().ok()?, rest[..end].parse().ok()?))
}
