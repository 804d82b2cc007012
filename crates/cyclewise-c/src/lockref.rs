//! A lock and a reference count in one word: `struct cw_lockref`, with the operations of Linux's lockref.
//!
//! # Safety
//! 1. Each name that is exported (`no_mangle`) begins with `cw_`, as of no other library.
//! 2. A `struct cw_lockref *` is of an object that exists, which only these functions change after it was initialized. It has
//!    the layout of a `LockRef<()>`.
//! 3. What is said to hold the lock holds it.
#![expect(unsafe_code, reason = "functions under names of their own, and objects by address")]

use core::ffi::c_int;
use core::mem::forget;
use cyclewise::refs::lockref::{Adaptive, Guard, LockRef};

/// A lock and a reference count in one word, and contention statistics. Its members are the library's; CW_LOCKREF_INIT and
/// cw_lockref_init initialize it.
///
/// It is for one process and one copy of the library, as struct cw_spinlock is: elsewhere a waiter may sleep for ever.
#[repr(C)]
pub struct cw_lockref {
    /// The lock above, the count below.
    pub lock_count: u64,
    /// How many operations queue for the lock.
    pub waiting: u32,
    /// For how many turns in a row few did.
    pub calm: u32,
}

type Object = LockRef<()>;

const _: () = {
    assert!(size_of::<Object>() == size_of::<cw_lockref>() && align_of::<Object>() == align_of::<cw_lockref>());
};

/// # Safety
/// Safety 2, for as long as the result is used.
#[inline(always)]
unsafe fn object<'a>(lockref: *const cw_lockref) -> &'a Object {
    // SAFETY: the caller's object, of the same layout (Safety 2); its words are atomics.
    unsafe { &*lockref.cast::<Object>() }
}

/// # Safety
/// Safety 2, and the caller holds the lock.
unsafe fn held<'a>(lockref: *const cw_lockref) -> Guard<'a, ()> {
    // SAFETY: Safety 2.
    let object = unsafe { object(lockref) };
    // SAFETY: the caller holds the lock, and has no other guard: C has none.
    unsafe { object.make_guard_unchecked() }
}

/// Initializes an object with `count` references, saturated past INT32_MAX - 1.
///
/// # Safety
/// The memory is the caller's alone.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cw_lockref_init(lockref: *mut cw_lockref, count: u32) {
    let new = Object::with_policy(count, (), Adaptive::new());
    // SAFETY: the caller's memory, of the same layout.
    unsafe { lockref.cast::<Object>().write(new) };
}

/// Adds a reference; the caller has one. Misuse is reported: without a reference, an idle count is saturated, and a dead one
/// stays dead. Orders nothing.
///
/// # Safety
/// Safety 2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cw_lockref_get(lockref: *mut cw_lockref) {
    // SAFETY: Safety 2.
    unsafe { object(lockref) }.get();
}

/// Adds a reference unless there is none, or the object is dead; false then. Acquire if added.
///
/// # Safety
/// Safety 2.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn cw_lockref_get_not_zero(lockref: *mut cw_lockref) -> bool {
    // SAFETY: Safety 2.
    unsafe { object(lockref) }.get_not_zero()
}

/// Adds a reference unless the object is dead; false then. Acquire if added.
///
/// # Safety
/// Safety 2.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn cw_lockref_get_not_dead(lockref: *mut cw_lockref) -> bool {
    // SAFETY: Safety 2.
    unsafe { object(lockref) }.get_not_dead()
}

/// Removes a reference if that is possible without the lock. The new count, or -1: the caller still has its reference.
/// Release; Acquire if the count is 0.
///
/// # Safety
/// Safety 2.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn cw_lockref_put_return(lockref: *mut cw_lockref) -> c_int {
    // SAFETY: Safety 2.
    let left = unsafe { object(lockref) }.put_return();
    left.map_or(-1, |count| c_int::try_from(count).unwrap_or(c_int::MAX))
}

/// Removes a reference unless it is the last. False: it is the last and still there, and the caller holds the lock; it then
/// puts the reference, or marks the object dead, and unlocks. Release; Acquire with the lock.
///
/// # Safety
/// Safety 2.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn cw_lockref_put_or_lock(lockref: *mut cw_lockref) -> bool {
    // SAFETY: Safety 2.
    let guard = unsafe { object(lockref) }.put_or_lock();
    let put = guard.is_none();
    forget(guard);
    put
}

/// Locks: until cw_lockref_unlock nobody else changes the count. A thread that holds the lock waits for ever. Not in memory that
/// processes share, and not between two copies of the library: see struct cw_lockref. Acquire.
///
/// # Safety
/// Safety 2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cw_lockref_lock(lockref: *mut cw_lockref) {
    // SAFETY: Safety 2.
    forget(unsafe { object(lockref) }.lock());
}

/// Locks if the lock is free. Acquire on success.
///
/// # Safety
/// Safety 2.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn cw_lockref_trylock(lockref: *mut cw_lockref) -> bool {
    // SAFETY: Safety 2.
    let guard = unsafe { object(lockref) }.try_lock();
    let locked = guard.is_some();
    forget(guard);
    locked
}

/// Unlocks what the caller holds. Without the lock the behaviour is undefined; the process may be aborted. Release.
///
/// # Safety
/// The caller holds the lock, and Safety 2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cw_lockref_unlock(lockref: *mut cw_lockref) {
    // SAFETY: the caller holds the lock.
    drop(unsafe { held(lockref) });
}

/// Adds a reference under the lock, also to an idle object. A dead one stays dead, and that is reported.
///
/// # Safety
/// The caller holds the lock, and Safety 2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cw_lockref_get_locked(lockref: *mut cw_lockref) {
    // SAFETY: the caller holds the lock.
    let mut guard = unsafe { held(lockref) };
    Guard::get(&mut guard);
    forget(guard);
}

/// Removes a reference under the lock; the new count. 0: the object is idle. Misuse is reported.
///
/// # Safety
/// The caller holds the lock, and Safety 2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cw_lockref_put_locked(lockref: *mut cw_lockref) -> c_int {
    // SAFETY: the caller holds the lock.
    let mut guard = unsafe { held(lockref) };
    let count = Guard::put(&mut guard);
    forget(guard);
    count
}

/// Marks the object dead under the lock: from here on nobody gets a reference. The only reference is the caller's.
///
/// # Safety
/// The caller holds the lock, and Safety 2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cw_lockref_mark_dead(lockref: *mut cw_lockref) {
    // SAFETY: the caller holds the lock.
    let mut guard = unsafe { held(lockref) };
    Guard::mark_dead(&mut guard);
    forget(guard);
}

/// The count at some moment: negative if the object is dead, INT32_MAX if it is saturated. Exact under the lock.
///
/// # Safety
/// Safety 2.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn cw_lockref_count(lockref: *const cw_lockref) -> c_int {
    // SAFETY: Safety 2.
    unsafe { object(lockref) }.count()
}

/// Whether the object is dead. Once true, always true.
///
/// # Safety
/// Safety 2.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn cw_lockref_is_dead(lockref: *const cw_lockref) -> bool {
    // SAFETY: Safety 2.
    unsafe { object(lockref) }.is_dead()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CW_LOCKREF_INIT of <cyclewise/lock.h>: the count, nobody waiting, 64 calm turns.
    #[test]
    fn a_new_object_is_what_the_initializer_says() {
        let new = Object::with_policy(3, (), Adaptive::new());
        // SAFETY: 16 bytes without padding.
        let words = unsafe { core::mem::transmute::<Object, cw_lockref>(new) };
        assert_eq!((words.lock_count, words.waiting, words.calm), (3, 0, 64));
    }
}
