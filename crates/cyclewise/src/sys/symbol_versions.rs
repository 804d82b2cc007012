//! Whether a link unit exports versioned symbols, as a version script makes it do.
//!
//! A library asks for `pthread_create` of the version that the C library had when it was linked. A definition without a
//! version satisfies that; one with another version does not, and the library is bound to the C library's. dlsym asks for no
//! version and finds the definition even so, so its answer is not enough.
//!
//! # References
//! LSB Core, "Symbol Versioning": DT_VERDEF; glibc elf/dl-lookup.c, check_match; dladdr1(3).
//!
//! # Safety
//! 1. dladdr1 takes any address; where it answers anything but 0 it has filled both places, and the link map is the linker's,
//!    which is there as long as the unit is loaded.
//! 2. The dynamic section ends with DT_NULL (gABI, Dynamic Section).
#![expect(unsafe_code, reason = "dladdr1, and a table that the linker has mapped")]

use core::ffi::c_void;
use core::mem::MaybeUninit;
use core::ptr::null_mut;

/// The beginning of glibc's `struct link_map` (<link.h>).
#[repr(C)]
struct LinkMap {
    address: usize,
    name: *const core::ffi::c_char,
    dynamic: *const Dynamic,
}

/// `Elf64_Dyn`, or `Elf32_Dyn` where addresses have 32 bits.
#[repr(C)]
#[derive(Clone, Copy)]
struct Dynamic {
    tag: isize,
    value: usize,
}

const DT_NULL: isize = 0; // gABI, Figure 5-10
const DT_VERDEF: isize = 0x6fff_fffc; // LSB Core, "Symbol Version Definitions"
const RTLD_DL_LINKMAP: i32 = 2; // glibc's <dlfcn.h>

/// Whether the link unit that contains `address` defines versions. False for an address outside all.
pub(crate) fn defined_with(address: *const c_void) -> bool {
    let mut information = MaybeUninit::<libc::Dl_info>::zeroed();
    let mut map: *mut c_void = null_mut();
    // SAFETY: Invariant 1; a place for each answer.
    let found = unsafe { libc::dladdr1(address, information.as_mut_ptr(), &raw mut map, RTLD_DL_LINKMAP) };
    if found == 0 || map.is_null() {
        return false;
    }
    // SAFETY: the linker's record of a unit that is loaded (Invariant 1).
    let mut entry = unsafe { (*map.cast::<LinkMap>()).dynamic };
    while !entry.is_null() {
        // SAFETY: an entry at or before DT_NULL, where this ends (Invariant 2).
        let Dynamic { tag, .. } = unsafe { *entry };
        match tag {
            DT_VERDEF => return true,
            DT_NULL => return false,
            // SAFETY: not the last one (Invariant 2).
            _ => entry = unsafe { entry.add(1) },
        }
    }
    false
}

#[cfg(all(test, target_arch = "x86_64", not(target_feature = "crt-static")))]
mod tests {
    use super::*;
    use crate::sys::dl;

    #[test]
    fn the_c_library_gives_versions_and_this_program_none() {
        // A function that no sanitizer puts its own before.
        assert!(defined_with(dl::bound(c"getppid")));
        assert!(!defined_with(
            (the_c_library_gives_versions_and_this_program_none as *const ()).cast()
        ));
        assert!(!defined_with(core::ptr::null()));
    }
}
