//! A shared object for LD_PRELOAD: malloc(3) that counts its calls per CPU, from the process's first call on.
//!
//! At exit it compares the sum with a count of its own, and ends the process with 3 where they differ. With `TWIN_OF_THE_FIRST_USE` in the
//! environment it counts nothing: it asks the dynamic linker at each call, as a first use does, and inside that call too.
#![cfg_attr(
    not(target_env = "gnu"),
    allow(unused, reason = "other C libraries name their functions otherwise")
)]

use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

cyclewise::percpu! {
    static CALLS: u64;
    static CALLS_BY_CID: u64 => Cid;
}
static CALLS_OF_ALL: AtomicU64 = AtomicU64::new(0);

#[cfg(target_env = "gnu")]
unsafe extern "C" {
    fn __libc_malloc(size: usize) -> *mut c_void;
    static environ: *const *const libc::c_char;
}

/// # Safety
/// As malloc(3).
#[cfg(target_env = "gnu")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malloc(size: usize) -> *mut c_void {
    if is_twin() {
        ask_the_dynamic_linker();
    } else {
        CALLS.add(1);
        CALLS_BY_CID.add(1);
        CALLS_OF_ALL.fetch_add(1, Ordering::Relaxed);
    }
    // SAFETY: the caller's promise.
    unsafe { __libc_malloc(size) }
}

/// Whether the environment says so; getenv(3) may not be called this early.
#[cfg(target_env = "gnu")]
fn is_twin() -> bool {
    // SAFETY: null, or a list of C strings that ends with null; nobody changes it here.
    let mut at = unsafe { environ };
    // SAFETY: as above.
    while let Some(&text) = unsafe { at.as_ref() }.filter(|text| !text.is_null()) {
        // SAFETY: as above.
        if unsafe { CStr::from_ptr(text) }
            .to_bytes()
            .starts_with(b"TWIN_OF_THE_FIRST_USE=")
        {
            return true;
        }
        at = at.wrapping_add(1);
    }
    false
}

fn ask_the_dynamic_linker() {
    static DEPTH: AtomicU32 = AtomicU32::new(0);
    if DEPTH.fetch_add(1, Ordering::Relaxed) == 50 {
        // SAFETY: takes a number.
        unsafe { libc::_exit(50) };
    }
    let mut own = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: an address of this object, and a place for what is known about it.
    unsafe { libc::dladdr((&raw const CALLS_OF_ALL).cast(), own.as_mut_ptr()) };
    // SAFETY: all zeroes is valid, and the linker has filled it.
    let name = unsafe { own.assume_init() }.dli_fname;
    // SAFETY: the linker's own name of this object.
    unsafe { libc::dlopen(name, libc::RTLD_LAZY | libc::RTLD_NOLOAD | libc::RTLD_NODELETE) };
    DEPTH.fetch_sub(1, Ordering::Relaxed);
}

#[cfg(target_env = "gnu")]
extern "C" fn at_exit() {
    let expected = CALLS_OF_ALL.load(Ordering::Relaxed);
    if !is_twin() && (expected == 0 || CALLS.sum() != expected || CALLS_BY_CID.sum() != expected) {
        // SAFETY: takes a number.
        unsafe { libc::_exit(3) };
    }
}

#[cfg(target_env = "gnu")]
#[used]
#[unsafe(link_section = ".fini_array")]
static AT_EXIT: extern "C" fn() = at_exit;
