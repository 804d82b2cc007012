//! The library's version, for programs that load it at run time.
//!
//! # Safety
//! 1. Each name that is exported (`no_mangle`) begins with `cw_`, as of no other library.
#![expect(unsafe_code, reason = "a function under a name of its own")]

use core::ffi::{CStr, c_char};

/// The version of the headers, to be compared in `#if`: it is the library's of the same package. cw_version tells the one that was
/// loaded.
pub const CW_VERSION_MAJOR: u32 = 0;
/// Its second number.
pub const CW_VERSION_MINOR: u32 = 1;
/// Its third number.
pub const CW_VERSION_PATCH: u32 = 0;

const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
    Ok(version) => version,
    Err(_) => panic!("a version has no NUL"),
};

/// The version of the library that was loaded: `"0.1.0"`. The string is static.
#[unsafe(no_mangle)]
pub extern "C" fn cw_version() -> *const c_char {
    VERSION.as_ptr()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::String;
    use std::{format, include_str};

    /// The three numbers, and the files for pkg-config, which all name it, have the package's version.
    #[test]
    fn every_version_is_the_packages() {
        let numbers = format!("{CW_VERSION_MAJOR}.{CW_VERSION_MINOR}.{CW_VERSION_PATCH}");
        assert_eq!(numbers, env!("CARGO_PKG_VERSION"));
        let file = include_str!("../pkgconfig/cyclewise-single.pc");
        let versions: String = file.lines().filter(|line| line.starts_with("Version:")).collect();
        assert_eq!(versions, format!("Version: {}", env!("CARGO_PKG_VERSION")));
    }
}
