//! The dynamic linker: objects whose constructors are the tests' own, std's or this crate's.

use std::ffi::{CStr, CString, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Loads an object; null where the dynamic linker refuses.
pub fn open(path: impl AsRef<Path>, flags: c_int) -> *mut c_void {
    let path = CString::new(path.as_ref().as_os_str().as_bytes()).unwrap();
    // SAFETY: a path; the constructors may run anywhere.
    unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | flags) }
}

/// Loads an object into a namespace of its own; null where the dynamic linker refuses.
#[cfg(target_env = "gnu")]
pub fn open_apart(path: impl AsRef<Path>) -> *mut c_void {
    let path = CString::new(path.as_ref().as_os_str().as_bytes()).unwrap();
    // SAFETY: as above.
    unsafe { libc::dlmopen(libc::LM_ID_NEWLM, path.as_ptr(), libc::RTLD_NOW) }
}

/// The address of a name in an object that is loaded.
pub fn symbol(object: *mut c_void, name: &CStr) -> *mut c_void {
    // SAFETY: a C string, and an object that is loaded, or RTLD_NEXT or its like.
    let found = unsafe { libc::dlsym(object, name.as_ptr()) };
    assert!(!found.is_null(), "{name:?} is not in the object");
    found
}
