//! A lock that signal handlers may take: `struct cw_masked_lock`, for data shared between handlers and the rest of a program.
//!
//! # Safety
//! 1. Each name that is exported (`no_mangle`) begins with `cw_`, as of no other library.
//! 2. A `struct cw_masked_lock *` is what `cw_masked_lock_create` returned, not null, and not destroyed.
#![expect(
    unsafe_code,
    reason = "functions under names of their own, and a lock that stays taken across calls"
)]

use crate::memory::{boxed, free};
use crate::refusal::{Refused, answer, cw_refusal};
use crate::sys::{errno, stop};
use core::ffi::c_int;
use core::mem::{ManuallyDrop, forget};
use core::ptr::NonNull;
use core::time::Duration;
use cyclewise::mask::{self, Hold, Masked};
use std::time::Instant;

/// A lock that is taken under a hold of the soft mask, so that no handler waits for the thread that it interrupted. It is for one
/// process and one copy of the library, whose holds it takes.
pub struct cw_masked_lock {
    masked: Masked<()>,
}

const NOT_TAKEN: &[u8] =
    b"cyclewise: cw_masked_lock_unlock by a thread that has not taken the lock: it is unlocked where it was taken; the process is aborted\n";

/// The longest wait of one try; then the owner is looked for again.
const LIMIT: Duration = Duration::from_secs(1);

/// # Safety
/// Safety 2, for as long as the result is used.
unsafe fn lock_at<'a>(lock: *const cw_masked_lock) -> &'a cw_masked_lock {
    // SAFETY: a lock that is not destroyed (Safety 2).
    unsafe { &*lock }
}

impl cw_masked_lock {
    /// Takes the lock within the limit.
    fn take(&self, limit: Option<Duration>) -> Option<()> {
        // SAFETY: a hold has no bytes; the callers hold the thread, and this one is not dropped.
        let hold = ManuallyDrop::new(unsafe { NonNull::<Hold>::dangling().read() });
        let guard = match limit {
            Some(limit) => self.masked.try_lock_for(&hold, limit),
            None => self.masked.try_lock(&hold),
        }?;
        // The unlock releases it.
        forget(guard);
        Some(())
    }
}

/// A free lock. Null without memory.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn cw_masked_lock_create() -> *mut cw_masked_lock {
    let _errno = errno::keep();
    boxed(cw_masked_lock {
        masked: Masked::new(()),
    })
}

/// Frees a lock that nobody has, or does nothing if it is null. A thread that has taken the lock may unlock and destroy it while the
/// unlock of the owner before is still to return: an unlock uses nothing of the lock once another thread can take it.
///
/// # Safety
/// Null or Safety 2, and no thread and no handler has it, waits for it or is to take it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cw_masked_lock_destroy(lock: *mut cw_masked_lock) {
    let _errno = errno::keep();
    // SAFETY: what `boxed` made, guaranteed by the caller.
    unsafe { free(lock) };
}

/// Holds the thread and takes the lock; waits while another thread has it. Acquire. Handlers may call it.
///
/// Returns 0, or CW_REFUSED_DEADLOCK, without the hold: this thread has the lock; or a thread that exists only in the parent of a
/// fork; or, after a second, a thread that has ended.
///
/// # Safety
/// Safety 2; `why` is null or may be written to.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn cw_masked_lock_lock(lock: *mut cw_masked_lock, why: *mut cw_refusal) -> c_int {
    // SAFETY: Safety 2.
    let lock = unsafe { lock_at(lock) };
    let hold = mask::hold();
    loop {
        let began = Instant::now();
        if lock.take(Some(LIMIT)).is_some() {
            // The unlock releases it.
            forget(hold);
            return 0;
        }
        // Only an owner that cannot release ends a try before its limit, except one that has ended.
        if began.elapsed() < LIMIT || lock.masked.__is_lost() {
            drop(hold);
            // SAFETY: guaranteed by the caller.
            return unsafe { answer(Err::<(), _>(Refused::Deadlock), why) };
        }
    }
}

/// As cw_masked_lock_lock, if the lock is free; false, without the hold, if it is not.
///
/// # Safety
/// Safety 2.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn cw_masked_lock_trylock(lock: *mut cw_masked_lock) -> bool {
    // SAFETY: Safety 2.
    unsafe { locked_within(lock, None) }
}

/// As cw_masked_lock_lock, unless that takes longer than `timeout_ns` nanoseconds; false then, without the hold, and at once where
/// cw_masked_lock_lock is refused.
///
/// # Safety
/// Safety 2.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn cw_masked_lock_timedlock(lock: *mut cw_masked_lock, timeout_ns: u64) -> bool {
    // SAFETY: Safety 2.
    unsafe { locked_within(lock, Some(Duration::from_nanos(timeout_ns))) }
}

/// # Safety
/// Safety 2.
unsafe fn locked_within(lock: *mut cw_masked_lock, limit: Option<Duration>) -> bool {
    let hold = mask::hold();
    // SAFETY: Safety 2.
    let taken = unsafe { lock_at(lock) }.take(limit).is_some();
    if taken {
        // The unlock releases it.
        forget(hold);
    }
    taken
}

/// Releases the lock, then the hold; handlers of signals that arrived meanwhile run before this returns. Release. Only the thread that
/// took the lock may call it, and a coroutine may have moved to another: there, and without the lock, the process is aborted with a line.
/// Not in a handler of the program's own that has interrupted a call on this lock.
///
/// # Safety
/// Safety 2, and this thread is in no other call on the lock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cw_masked_lock_unlock(lock: *mut cw_masked_lock) {
    // SAFETY: Safety 2.
    let lock = unsafe { lock_at(lock) };
    if !lock.masked.__is_callers() {
        stop::stop(NOT_TAKEN);
    }
    // SAFETY: this thread has it, and forgot its guard.
    unsafe { lock.masked.force_unlock() };
    // SAFETY: a hold has no bytes; it stands for the one that was kept with the lock.
    drop(unsafe { NonNull::<Hold>::dangling().read() });
}
