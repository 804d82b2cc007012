//! The queued spinlock: `cw_spinlock_t`, 8 bytes with a static initializer.
//!
//! Called and not inline: a release looks at the table of sleepers, which is the library's own and no interface.
//!
//! # Safety
//! 1. Each name that is exported (`no_mangle`) begins with `cw_`, as of no other library.
//! 2. A `struct cw_spinlock *` is of a lock that exists, which only these functions change. It has the layout of a
//!    `RawSpinLock`, and all zeroes are a free one.
#![expect(unsafe_code, reason = "functions under names of their own, and locks by address")]

use core::time::Duration;
use cyclewise::lock::RawSpinLock;
use lock_api::{RawMutex, RawMutexFair, RawMutexTimed};

/// A queued spinlock. Its members are the library's. CW_SPINLOCK_INIT is a free one, and so are 8 bytes of zeroes.
///
/// It is for one process and one copy of the library: its waiters are in a table of that copy. In memory that processes share, or used
/// through the archive in one link unit and another copy in another, a waiter may sleep for ever.
#[repr(C)]
pub struct cw_spinlock {
    /// Whether it is held, and by which rule it is given on.
    pub bits: u32,
    /// The last waiter.
    pub tail: u16,
    /// For how long the first waiter has been passed.
    pub turn: u16,
}

type Lock = RawSpinLock;

const _: () = assert!(size_of::<Lock>() == size_of::<cw_spinlock>() && align_of::<Lock>() == align_of::<cw_spinlock>());

impl cw_spinlock {
    /// # Safety
    /// Safety 2, for as long as the result is used.
    #[inline(always)]
    unsafe fn raw<'a>(lock: *mut Self) -> &'a Lock {
        // SAFETY: the caller's lock, of the same layout (Safety 2); its words are atomics.
        unsafe { &*lock.cast::<Lock>() }
    }
}

/// Locks. Waiters spin, then sleep, in the order of arrival; a thread that holds the lock waits for ever. Not in memory that processes
/// share, and not between two copies of the library: see struct cw_spinlock.
///
/// Acquire: pairs with the unlock before.
///
/// # Safety
/// Safety 2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cw_spin_lock(lock: *mut cw_spinlock) {
    // SAFETY: Safety 2.
    unsafe { cw_spinlock::raw(lock) }.lock();
}

/// Locks if the lock is free. Acquire on success.
///
/// # Safety
/// Safety 2.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn cw_spin_trylock(lock: *mut cw_spinlock) -> bool {
    // SAFETY: Safety 2.
    unsafe { cw_spinlock::raw(lock) }.try_lock()
}

/// Locks, unless that takes longer than `timeout_ns` nanoseconds; false then. Acquire on success.
///
/// # Safety
/// Safety 2.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn cw_spin_timedlock(lock: *mut cw_spinlock, timeout_ns: u64) -> bool {
    // SAFETY: Safety 2.
    unsafe { cw_spinlock::raw(lock) }.try_lock_for(Duration::from_nanos(timeout_ns))
}

/// Unlocks what the caller holds. The lock may be freed as soon as another thread can have it. Without the lock the behaviour is
/// undefined. Release.
///
/// # Safety
/// The caller holds the lock, and Safety 2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cw_spin_unlock(lock: *mut cw_spinlock) {
    // SAFETY: Safety 2.
    let lock = unsafe { cw_spinlock::raw(lock) };
    // SAFETY: the caller holds it.
    unsafe { lock.unlock() };
}

/// As cw_spin_unlock, and hands the lock to the first waiter: no other thread takes it before. Release.
///
/// # Safety
/// The caller holds the lock, and Safety 2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cw_spin_unlock_fair(lock: *mut cw_spinlock) {
    // SAFETY: Safety 2.
    let lock = unsafe { cw_spinlock::raw(lock) };
    // SAFETY: the caller holds it.
    unsafe { lock.unlock_fair() };
}

/// Whether the lock was held at some moment of the call. Orders nothing.
///
/// # Safety
/// Safety 2.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn cw_spin_is_locked(lock: *mut cw_spinlock) -> bool {
    // SAFETY: Safety 2.
    unsafe { cw_spinlock::raw(lock) }.is_locked()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The static initializer is all zeroes.
    #[test]
    fn a_free_lock_is_zeroes() {
        let free = <Lock as RawMutex>::INIT;
        // SAFETY: 8 bytes without padding.
        assert_eq!(unsafe { core::mem::transmute::<Lock, [u8; 8]>(free) }, [0; 8]);
    }
}
