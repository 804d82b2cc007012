//! Which function answers to a name: the dynamic linker's view.
//!
//! # Safety
//! 1. dlsym reads a C string and gives an address; nothing is called or read through it here.
//! 2. dladdr takes any address, and fills what it is given where it answers anything but 0.
#![expect(unsafe_code, reason = "dlsym, dladdr")]

use core::ffi::{CStr, c_void};
use core::mem::MaybeUninit;

/// What the process binds `name` to: the first definition in the global search order. Null where there is none.
pub(crate) fn bound(name: &CStr) -> *mut c_void {
    // SAFETY: Invariant 1.
    unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) }
}

/// The definition behind this link unit's own in the search order. Null where there is none.
pub(crate) fn next(name: &CStr) -> *mut c_void {
    // SAFETY: Invariant 1.
    unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) }
}

/// Whether `function` is in the link unit that contains this copy of the crate.
pub(crate) fn is_ours(function: *const c_void) -> bool {
    // Neither exported nor looked up by name, so its address is this copy's.
    static HERE: u8 = 0;
    let here = unit((&raw const HERE).cast());
    here.is_some() && unit(function) == here
}

/// Where the link unit that contains `address` is loaded; none for an address outside all.
fn unit(address: *const c_void) -> Option<usize> {
    let mut information = MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: Invariant 2.
    let found = unsafe { libc::dladdr(address, information.as_mut_ptr()) };
    // SAFETY: all zeroes is valid, and the linker may have filled it.
    let information = unsafe { information.assume_init() };
    (found != 0).then_some(information.dli_fbase as usize)
}
