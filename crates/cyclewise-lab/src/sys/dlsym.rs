//! dlsym(3): a symbol of the program or of the libraries it is linked with.
//!
//! # Safety
//! The name is a C string, and neither pseudo-handle needs to be opened.
#![expect(unsafe_code, reason = "dlsym")]

use std::ffi::{CStr, c_void};
use std::ptr::NonNull;

/// The symbol in the default search order.
pub(super) fn default(name: &CStr) -> Option<NonNull<c_void>> {
    // SAFETY: see above.
    NonNull::new(unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) })
}

/// The symbol in the search order behind this program.
pub(super) fn next(name: &CStr) -> Option<NonNull<c_void>> {
    // SAFETY: see above.
    NonNull::new(unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) })
}
