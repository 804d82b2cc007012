//! `pthread_attr_t`: whether a thread that is created with it has an affinity of its own, or its creator's.
//!
//! # References
//! glibc nptl/pthread_attr_getaffinity.c: a set of CPUs beyond the size that the caller gives is EINVAL; without a set, none is
//! missed. nptl/pthread_create.c: without attributes those of pthread_setattr_default_np(3) count, since 2.18.
//!
//! # Safety
//! 1. The C library fills attributes that it is given a place for, and they are destroyed once.
#![expect(
    unsafe_code,
    reason = "pthread_attr_getaffinity_np, pthread_getattr_default_np, pthread_attr_destroy"
)]

use super::dl;
use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;
use core::sync::atomic::AtomicPtr;
use core::sync::atomic::Ordering::Relaxed;

type GetDefault = unsafe extern "C" fn(*mut libc::pthread_attr_t) -> c_int;

/// The C library's `pthread_getattr_default_np`; null before [`find`], and in glibc before 2.18.
static GET_DEFAULT: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());

/// Finds what [`own_affinity`] needs: waits for the dynamic linker, which that may not.
pub(crate) fn find() {
    // Relaxed: every thread finds the same address.
    GET_DEFAULT.store(dl::bound(c"pthread_getattr_default_np"), Relaxed);
}

/// Whether a thread with these attributes, or the default ones if null, gets an affinity of its own.
///
/// # Safety
/// Null, or a `pthread_attr_t`.
pub(crate) unsafe fn own_affinity(attributes: *const c_void) -> bool {
    if !attributes.is_null() {
        // SAFETY: the caller's attributes.
        return unsafe { has_affinity(attributes.cast()) };
    }
    // Relaxed: see `find`.
    let get = GET_DEFAULT.load(Relaxed);
    if get.is_null() {
        return false;
    }
    // SAFETY: the C library's function of that name.
    let get = unsafe { core::mem::transmute::<*mut c_void, GetDefault>(get) };
    let mut default = MaybeUninit::uninit();
    // SAFETY: a place for attributes (Invariant 1).
    if unsafe { get(default.as_mut_ptr()) } != 0 {
        // Not known, so LOCK is restored.
        return true;
    }
    // SAFETY: filled above.
    let has = unsafe { has_affinity(default.as_ptr()) };
    // SAFETY: filled above, and not used again (Invariant 1).
    unsafe { libc::pthread_attr_destroy(default.as_mut_ptr()) };
    has
}

/// # Safety
/// A `pthread_attr_t`.
unsafe fn has_affinity(attributes: *const libc::pthread_attr_t) -> bool {
    let mut none = MaybeUninit::<libc::cpu_set_t>::uninit();
    // SAFETY: the caller's attributes, and a set of no bytes.
    unsafe { libc::pthread_attr_getaffinity_np(attributes, 0, none.as_mut_ptr()) == libc::EINVAL }
}
