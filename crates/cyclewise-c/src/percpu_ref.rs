//! A reference count that each CPU counts on its own while it is live: `struct cw_percpu_ref`, after the kernel's percpu_ref.
//!
//! # Safety
//! 1. Each name that is exported (`no_mangle`) begins with `cw_`, as of no other library.
//! 2. A `struct cw_percpu_ref *` is what `cw_percpu_ref_create` returned, not null, and not destroyed.
//! 3. The release may destroy its reference count. So it is called through copies, when no reference to the count is left; and until
//!    it is called the count is not destroyed, because the thread that calls it still uses the count.
//! 4. A place for `killed` or a `struct cw_refusal` is null or may be written to.
#![expect(unsafe_code, reason = "functions under names of their own, and objects by address")]

use crate::memory::{boxed, free, give};
use crate::percpu::register_now;
use crate::refusal::{answer, cw_refusal};
use crate::sys::{callback, errno};
use core::ffi::{c_int, c_void};
use core::ptr;
use cyclewise::error::Refusal;
use cyclewise::percpu::Ref;

/// A function of C and its argument; as "C-unwind", so that an exception is seen.
#[derive(Clone, Copy)]
struct Call {
    function: Option<unsafe extern "C-unwind" fn(*mut c_void)>,
    argument: *mut c_void,
}

impl Call {
    /// # Safety
    /// The function takes the argument now.
    unsafe fn make(self) {
        if let Some(function) = self.function {
            // SAFETY: guaranteed by the caller.
            callback::call(|| unsafe { function(self.argument) });
        }
    }
}

/// A reference count. It only counts; the object is the program's. A shared pointer is made of it as percpu::Arc is in Rust: whoever has a reference
/// calls cw_percpu_ref_get for another and cw_percpu_ref_put; the owner calls cw_percpu_ref_kill; the release frees the object.
pub struct cw_percpu_ref {
    /// Its own release is never run.
    count: Ref<fn()>,
    release: Call,
}

/// # Safety
/// Safety 2, for as long as the result is used.
#[inline(always)]
unsafe fn count<'a>(count: *const cw_percpu_ref) -> &'a Ref<fn()> {
    // SAFETY: a count that is not destroyed (Safety 2).
    unsafe { &(*count).count }
}

/// Calls the release, after which the count may be gone.
///
/// # Safety
/// The last reference was put by the caller, which keeps no reference to the count (Safety 3).
#[cold]
unsafe fn release(count: *const cw_percpu_ref) {
    let _errno = errno::keep();
    // SAFETY: not destroyed before the call that follows.
    let release = unsafe { &raw const (*count).release };
    // SAFETY: the same; a copy, since the count may be gone during the call.
    let release = unsafe { release.read() };
    // SAFETY: by the contract of `cw_percpu_ref_create`.
    unsafe { release.make() };
}

/// A live count with one initial reference, which cw_percpu_ref_kill puts. `release` is called with `argument` when the last
/// reference was put after a kill, on the thread that put it, once for each life; it may destroy the count. Null without memory.
///
/// # Safety
/// `release` takes `argument`, on any thread.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn cw_percpu_ref_create(
    release: Option<unsafe extern "C-unwind" fn(*mut c_void)>,
    argument: *mut c_void,
) -> *mut cw_percpu_ref {
    let _errno = errno::keep();
    register_now();
    let release = Call {
        function: release,
        argument,
    };
    match Ref::try_new((|| ()) as fn()) {
        Ok(count) => boxed(cw_percpu_ref { count, release }),
        Err(_) => ptr::null_mut(),
    }
}

/// Frees a count, or does nothing if it is null. It does not call the release.
///
/// # Safety
/// Null or Safety 2, and no thread uses it any more, except that its release may call this.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cw_percpu_ref_destroy(count: *mut cw_percpu_ref) {
    let _errno = errno::keep();
    // SAFETY: what `boxed` made, guaranteed by the caller (Safety 3).
    unsafe { free(count) };
}

/// Takes a reference; false if the count is killed and no reference is left.
///
/// # Safety
/// Safety 2.
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
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cw_percpu_ref_get(count: *mut cw_percpu_ref) {
    // SAFETY: Safety 2.
    let _taken = unsafe { self::count(count) }.try_get();
}

/// Puts a reference that a get took. After a kill, the last put calls the release.
///
/// # Safety
/// Safety 2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cw_percpu_ref_put(count: *mut cw_percpu_ref) {
    // SAFETY: Safety 2.
    let due = unsafe { self::count(count) }.__put_silently();
    if due {
        // SAFETY: this call put the last reference.
        unsafe { release(count) };
    }
}

/// Ends live references, waits until no thread can take one, and puts the initial reference. Sets `*killed` to whether this call
/// killed it, before the release can run: false if it was killed before; another thread's kill may then be in progress. `killed` may
/// be null. Not for signal handlers.
///
/// Returns 0, or why the count stays live: the kernel forbids membarrier(2) by now.
///
/// # Safety
/// Safety 2 and 4.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cw_percpu_ref_kill(
    count: *mut cw_percpu_ref,
    killed: *mut bool,
    why: *mut cw_refusal,
) -> c_int {
    // SAFETY: the caller's contract; nothing to confirm.
    unsafe { cw_percpu_ref_kill_and_confirm(count, None, ptr::null_mut(), killed, why) }
}

/// As cw_percpu_ref_kill, and calls `confirm` with `argument` when no thread can take a live reference any more, before the initial
/// reference is put.
///
/// # Safety
/// Safety 2 and 4; `confirm` takes `argument`, and does not destroy the count.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cw_percpu_ref_kill_and_confirm(
    count: *mut cw_percpu_ref,
    confirm: Option<unsafe extern "C-unwind" fn(*mut c_void)>,
    argument: *mut c_void,
    killed: *mut bool,
    why: *mut cw_refusal,
) -> c_int {
    let _errno = errno::keep();
    let confirm = Call {
        function: confirm,
        argument,
    };
    // SAFETY: Safety 2.
    let due: Result<Option<bool>, Refusal> = unsafe { self::count(count) }.__kill_silently(|| {
        // SAFETY: guaranteed by the caller.
        unsafe { confirm.make() };
    });
    // SAFETY: Safety 4.
    unsafe { give(killed, matches!(due, Ok(Some(_)))) };
    if matches!(due, Ok(Some(true))) {
        // SAFETY: this call put the last reference.
        unsafe { release(count) };
    }
    // SAFETY: Safety 4.
    unsafe { answer(due, why) }
}

/// Makes the count live again, with one initial reference. False if it is live, or references are left. The release may still be
/// running: wait for its effect.
///
/// # Safety
/// Safety 2.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn cw_percpu_ref_reinit(count: *mut cw_percpu_ref) -> bool {
    let _errno = errno::keep();
    // SAFETY: Safety 2.
    unsafe { self::count(count) }.reinit()
}

/// Whether it is killed.
///
/// # Safety
/// Safety 2.
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
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn cw_percpu_ref_is_zero(count: *const cw_percpu_ref) -> bool {
    // SAFETY: Safety 2.
    unsafe { self::count(count) }.is_zero()
}
