//! The dynamic linker: which definition a name is bound to, which link unit an address is in, keeping a unit loaded.
//!
//! A link unit is the program or a shared library.
//!
//! # Safety
//! 1. dlsym reads a C string and gives an address; nothing is called or read through it here.
//! 2. dladdr takes any address, and fills what it is given where it answers anything but 0.
//! 3. dlopen reads a C string. It names what is loaded already, or a library whose initializers are the C library's.
#![expect(unsafe_code, reason = "dlsym, dladdr, dlopen")]

use super::auxv;
use core::ffi::{CStr, c_char, c_void};
use core::mem::MaybeUninit;
use core::ptr::null_mut;

/// What this link unit binds `name` to: the first definition in the global search order, or an own one where it was loaded with
/// RTLD_DEEPBIND. Null without one.
pub(crate) fn bound(name: &CStr) -> *mut c_void {
    // SAFETY: Invariant 1.
    unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) }
}

/// What the process binds `name` to, whatever this link unit does: the first definition in the order of the program. Null without one.
pub(crate) fn bound_by_program(name: &CStr) -> *mut c_void {
    // SAFETY: null names the program, which is loaded (Invariant 3).
    let program = unsafe { libc::dlopen(core::ptr::null(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
    if program.is_null() {
        return null_mut();
    }
    // SAFETY: Invariant 1, in the program, which is not unloaded.
    unsafe { libc::dlsym(program, name.as_ptr()) }
}

/// dlsym with RTLD_NEXT, called in some link unit: the linker goes by where the call comes from.
pub type Next = unsafe extern "C" fn(*const c_char) -> *mut c_void;

/// [`Next`] in the link unit of the caller, as this is compiled there.
///
/// # Safety
/// A C string.
#[inline(always)]
pub unsafe fn next_from_here(name: *const c_char) -> *mut c_void {
    // SAFETY: the caller's C string (Invariant 1).
    let found = unsafe { libc::dlsym(libc::RTLD_NEXT, name) };
    // A tail call would come from the caller's caller.
    core::hint::black_box(found)
}

/// What comes after the link unit of `next` in the search order: a wrapper of that name, or the C library's definition. Null
/// without one. A definition in that unit itself is none: a wrapper of dlsym that comes before it in the order finds it.
///
/// The unit may come after the C library, as a library that only a preloaded object needs: then that is searched. In glibc before
/// 2.34 the definition may be in a library that is not loaded yet, since the unit's own one satisfies the linker.
///
/// Of several versions it is the newest, which programs are linked to. For RTLD_NEXT glibc before 2.36 gives the oldest
/// (bug 14932), and its `timer_create` makes timers that no other function knows; so the library itself is searched.
pub(crate) fn behind(next: Next, name: &CStr) -> *mut c_void {
    let is_behind = |found: *mut c_void| !found.is_null() && !are_in_one_unit(found, next as *const c_void);
    // SAFETY: Invariant 1.
    let found = unsafe { next(name.as_ptr()) };
    if is_behind(found) {
        // The dynamic linker's own have one version, and opening it by name from another namespace damages glibc's list of objects.
        if name.to_bytes().starts_with(b"_dl_") {
            return found;
        }
        let of_unit = information(found).map_or(null_mut(), |unit| {
            // SAFETY: the linker's own C string.
            let unit = unsafe { CStr::from_ptr(unit.dli_fname) };
            in_library(unit, libc::RTLD_LAZY | libc::RTLD_NOLOAD, name)
        });
        // An object of an auditor is in another namespace, where its name is not found.
        return if is_behind(of_unit) { of_unit } else { found };
    }
    let loaded = libc::RTLD_LAZY | libc::RTLD_NOLOAD;
    let libraries = [
        (c"libpthread.so.0", loaded),
        // Its own needs are searched with it: the dynamic linker.
        (c"libc.so.6", loaded),
        (c"librt.so.1", libc::RTLD_LAZY),
        (c"libanl.so.1", libc::RTLD_LAZY),
    ];
    let mut found = libraries
        .map(|(library, flags)| in_library(library, flags, name))
        .into_iter();
    found.find(|&found| is_behind(found)).unwrap_or(null_mut())
}

/// Whether the C library knows that the process has had a second thread; false before glibc 2.32.
pub(crate) fn has_had_threads() -> bool {
    let single = bound(c"__libc_single_threaded").cast::<u8>();
    // SAFETY: null, or glibc's variable of this name, a byte that lives as long as the process.
    unsafe { single.as_ref() }.is_some_and(|single| *single == 0)
}

/// A library's definition. The library stays loaded: it is part of the C library, or was loaded before.
fn in_library(library: &CStr, flags: i32, name: &CStr) -> *mut c_void {
    // SAFETY: Invariant 3.
    let library = unsafe { libc::dlopen(library.as_ptr(), flags) };
    if library.is_null() {
        return null_mut();
    }
    // SAFETY: Invariant 1, in a library that was opened and is not closed.
    unsafe { libc::dlsym(library, name.as_ptr()) }
}

/// Whether both functions are in one link unit.
pub(crate) fn are_in_one_unit(one: *const c_void, other: *const c_void) -> bool {
    let unit = base(one);
    unit.is_some() && base(other) == unit
}

/// Whether no dynamic linker has loaded this program.
pub(crate) fn is_static() -> bool {
    base(program_address()).is_none()
}

/// Keeps this link unit mapped until the process ends: the kernel may read an rseq descriptor long after its sequence has ended.
/// False where that is impossible.
pub(crate) fn stay_loaded() -> bool {
    // A static program has no units to ask about, and unloads nothing.
    keep_loaded(own_address()) || is_static()
}

/// Keeps the link unit that contains `address` mapped until the process ends. False where that is impossible, and where no unit
/// contains it.
pub(crate) fn keep_loaded(address: *const c_void) -> bool {
    let Some(unit) = information(address) else {
        return false;
    };
    // The program itself is never unloaded.
    if base(program_address()) == Some(unit.dli_fbase as usize) {
        return true;
    }
    let flags = libc::RTLD_LAZY | libc::RTLD_NOLOAD | libc::RTLD_NODELETE;
    // SAFETY: the linker's own name of the unit. It is loaded, so nothing is loaded and no code runs (Invariant 3).
    !unsafe { libc::dlopen(unit.dli_fname, flags) }.is_null()
}

/// An address in the program itself: its headers.
fn program_address() -> *const c_void {
    core::ptr::with_exposed_provenance(auxv::get(libc::AT_PHDR))
}

/// An address in the link unit that contains this copy of the crate: neither exported nor looked up by name.
fn own_address() -> *const c_void {
    static OWN: u8 = 0;
    (&raw const OWN).cast()
}

/// Where the link unit that contains `address` is loaded; `None` for an address outside all.
fn base(address: *const c_void) -> Option<usize> {
    information(address).map(|information| information.dli_fbase as usize)
}

fn information(address: *const c_void) -> Option<libc::Dl_info> {
    let mut information = MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: Invariant 2.
    let found = unsafe { libc::dladdr(address, information.as_mut_ptr()) };
    // SAFETY: all zeroes is valid, and the linker may have filled it.
    let information = unsafe { information.assume_init() };
    (found != 0).then_some(information)
}

#[cfg(all(test, target_arch = "x86_64", not(target_feature = "crt-static")))]
mod tests {
    use super::*;

    #[test]
    fn of_several_versions_the_one_that_programs_are_linked_to_is_next() {
        let name = c"timer_create";
        // Where it is, or, since 2.34, an empty library in front of where it is.
        // SAFETY: Invariant 3.
        let library = unsafe { libc::dlopen(c"librt.so.1".as_ptr(), libc::RTLD_LAZY) };
        let [oldest, linked] = [c"GLIBC_2.2.5", c"GLIBC_2.3.3"].map(|version| {
            // SAFETY: Invariant 1, of a library that is open.
            unsafe { libc::dlvsym(library, name.as_ptr(), version.as_ptr()) }
        });
        let behind = behind(next, name);
        assert_eq!(behind, linked);
        assert!(!behind.is_null() && behind != oldest);
    }

    /// Of this link unit.
    unsafe extern "C" fn next(name: *const c_char) -> *mut c_void {
        // SAFETY: the caller's C string.
        unsafe { next_from_here(name) }
    }

    #[test]
    fn a_name_that_no_library_has_is_null() {
        assert!(behind(next, c"no_function_of_this_name").is_null());
    }

    /// What a wrapper of dlsym before the unit finds, or a linker that does not know the caller: the C library is asked itself, the
    /// dynamic linker with it.
    #[test]
    fn without_an_answer_the_c_library_is_searched() {
        unsafe extern "C" fn nothing(_: *const c_char) -> *mut c_void {
            null_mut()
        }
        unsafe extern "C" fn itself(_: *const c_char) -> *mut c_void {
            itself as Next as *mut c_void
        }
        for name in [
            c"pthread_create",
            c"timer_create",
            c"_dl_allocate_tls",
            c"_dl_allocate_tls_init",
        ] {
            let expected = behind(next, name);
            assert!(!expected.is_null());
            assert_eq!([behind(nothing, name), behind(itself, name)], [expected; 2], "{name:?}");
        }
    }
}
