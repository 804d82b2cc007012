//! The counterpart where no program has hooks: a sanitizer's interceptors need no help to be called.

use core::ffi::{CStr, c_void};

/// Null: the function is found by its own name, whether it is the C library's or an interceptor.
pub(crate) fn interceptor(_: &CStr) -> *mut c_void {
    core::ptr::null_mut()
}

/// Null: the modes need no hooks here.
pub(crate) fn hooks_of_c_program() -> *const c_void {
    core::ptr::null()
}
