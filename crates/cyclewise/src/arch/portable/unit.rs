//! The counterpart where link units have no descriptor: they have no sites to patch.

use core::ffi::c_void;

/// Null.
pub(crate) fn own() -> *mut c_void {
    core::ptr::null_mut()
}
