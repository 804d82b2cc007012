//! The library's version, for programs that load it at run time.
//!
//! # Safety
//! 1. The names that are exported begin with `cw_`, which no other library defines.
#![expect(unsafe_code, reason = "a function under a name of its own")]

use core::ffi::{CStr, c_char};

const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
    Ok(version) => version,
    Err(_) => panic!("a version has no NUL"),
};

/// The version of the library that was loaded: `"0.1.0"`. The string is static.
// SAFETY: Safety 1.
#[unsafe(no_mangle)]
pub extern "C" fn cw_version() -> *const c_char {
    VERSION.as_ptr()
}
