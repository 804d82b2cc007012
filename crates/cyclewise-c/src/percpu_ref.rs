//! A reference count that each CPU counts on its own while it is live: `struct cw_percpu_ref`, after the kernel's percpu_ref.
//!
//! # Safety
//! 1. The names that are exported begin with `cw_`, which no other library defines.
//! 2. A `struct cw_percpu_ref *` is what `cw_percpu_ref_create` returned, not null, and not destroyed.
//! 3. The release may destroy its reference count: after the call of the release nothing of it is used, and a reference to
//!    memory with atomics in it need not outlive its last use.
#![expect(unsafe_code, reason = "functions under names of their own, and objects by address")]

use crate::memory::{boxed, free};
use crate::refusal::{answer, cw_refusal};
use core::ffi::{c_int, c_void};
use core::ptr;
use cyclewise::error::Refusal;
use cyclewise::percpu::Ref;
use std::boxed::Box;

/// A reference count. It only counts; the object is the program's.
pub struct cw_percpu_ref(Ref<Box<dyn Fn()>>);

/// # Safety
/// Safety 2, for as long as the result is used.
#[inline(always)]
unsafe fn count<'a>(count: *const cw_percpu_ref) -> &'a Ref<Box<dyn Fn()>> {
    // SAFETY: a count that is not destroyed (Safety 2).
    unsafe { &(*count).0 }
}

/// A live count with one initial reference, which cw_percpu_ref_kill puts. `release` is called with `argument` when the last
/// reference was put after a kill, on the thread that put it, once for each life; it may destroy the count. Null without memory.
///
/// # Safety
/// `release` takes `argument`, on any thread.
// SAFETY: Safety 1.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn cw_percpu_ref_create(
    release: Option<unsafe extern "C" fn(*mut c_void)>,
    argument: *mut c_void,
) -> *mut cw_percpu_ref {
    let call = boxed(move || {
        if let Some(release) = release {
            // SAFETY: by the contract of `cw_percpu_ref_create`.
            unsafe { release(argument) };
        }
    });
    if call.is_null() {
        return ptr::null_mut();
    }
    // SAFETY: made with the allocator and the layout of a box, and not null.
    let call: Box<dyn Fn()> = unsafe { Box::from_raw(call) };
    match Ref::try_new(call) {
        Ok(count) => boxed(cw_percpu_ref(count)),
        Err(_) => ptr::null_mut(),
    }
}

/// Frees a count, or does nothing if it is null. It does not call the release.
///
/// # Safety
/// Null or Safety 2, and no thread uses it any more, except that its release may call this.
// SAFETY: Safety 1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cw_percpu_ref_destroy(count: *mut cw_percpu_ref) {
    // SAFETY: what `boxed` made, by the caller's word (Safety 3).
    unsafe { free(count) };
}

/// Takes a reference; false if the count is killed and no reference is left.
///
/// # Safety
/// Safety 2.
// SAFETY: Safety 1.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn cw_percpu_ref_tryget(count: *mut cw_percpu_ref) -> bool {
    // SAFETY: Safety 2.
    unsafe { self::count(count) }.try_get()
}

/// Takes a reference; may be false once a kill has begun, and always is once it has returned.
///
/// # Safety
/// Safety 2.
// SAFETY: Safety 1.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn cw_percpu_ref_tryget_live(count: *mut cw_percpu_ref) -> bool {
    // SAFETY: Safety 2.
    unsafe { self::count(count) }.try_get_live()
}

/// Takes a reference; the caller knows that there is one, so that this does not fail.
///
/// # Safety
/// Safety 2.
// SAFETY: Safety 1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cw_percpu_ref_get(count: *mut cw_percpu_ref) {
    // SAFETY: Safety 2.
    let _taken = unsafe { self::count(count) }.try_get();
}

/// Puts a reference that a get took. After a kill, the last put calls the release.
///
/// # Safety
/// Safety 2.
// SAFETY: Safety 1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cw_percpu_ref_put(count: *mut cw_percpu_ref) {
    // SAFETY: Safety 2 and 3.
    unsafe { self::count(count) }.put();
}

/// Ends live references, waits until no thread can take one, and puts the initial reference. Nothing if it was killed before;
/// another thread's kill may then be in progress. Not for signal handlers.
///
/// Returns 0, or why the count stays live: the kernel forbids membarrier(2) by now.
///
/// # Safety
/// Safety 2; `why` is null or may be written to.
// SAFETY: Safety 1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cw_percpu_ref_kill(count: *mut cw_percpu_ref, why: *mut cw_refusal) -> c_int {
    // SAFETY: Safety 2 and 3.
    let killed: Result<bool, Refusal> = unsafe { self::count(count) }.kill();
    // SAFETY: by the caller's word.
    unsafe { answer(killed, why) }
}

/// As cw_percpu_ref_kill, and calls `confirm` with `argument` when no thread can take a live reference any more, before the initial
/// reference is put.
///
/// # Safety
/// Safety 2; `confirm` takes `argument`; `why` is null or may be written to.
// SAFETY: Safety 1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cw_percpu_ref_kill_and_confirm(
    count: *mut cw_percpu_ref,
    confirm: Option<unsafe extern "C" fn(*mut c_void)>,
    argument: *mut c_void,
    why: *mut cw_refusal,
) -> c_int {
    // SAFETY: Safety 2 and 3.
    let killed = unsafe { self::count(count) }.kill_and_confirm(|| {
        if let Some(confirm) = confirm {
            // SAFETY: by the caller's word.
            unsafe { confirm(argument) };
        }
    });
    // SAFETY: by the caller's word.
    unsafe { answer(killed, why) }
}

/// Makes the count live again, with one initial reference. False if it is live, or references are left. The release may still be
/// running: wait for its effect.
///
/// # Safety
/// Safety 2.
// SAFETY: Safety 1.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn cw_percpu_ref_reinit(count: *mut cw_percpu_ref) -> bool {
    // SAFETY: Safety 2.
    unsafe { self::count(count) }.reinit()
}

/// Whether it is killed.
///
/// # Safety
/// Safety 2.
// SAFETY: Safety 1.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn cw_percpu_ref_is_dying(count: *const cw_percpu_ref) -> bool {
    // SAFETY: Safety 2.
    unsafe { self::count(count) }.is_dying()
}

/// Whether it is killed and no reference is left.
///
/// # Safety
/// Safety 2.
// SAFETY: Safety 1.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn cw_percpu_ref_is_zero(count: *const cw_percpu_ref) -> bool {
    // SAFETY: Safety 2.
    unsafe { self::count(count) }.is_zero()
}
