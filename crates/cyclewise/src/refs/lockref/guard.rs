//! [`Guard`]: the lock, held.
//!
//! # Safety
//! 1. A guard is made when its thread has just taken the lock, and dropping it unlocks. In between its thread holds the
//!    lock.
#![expect(unsafe_code, reason = "data that a lock protects")]

use super::lock_ref::LockRef;
use super::operation::{DEAD, LockedGet, LockedPut, Operation, PutOrLock, difference};
use super::policy::Policy;
use super::update::{self, Outcome, apply, update, update_slow};
use super::word::report;
use core::fmt;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};
use core::sync::atomic::Ordering::Relaxed;

/// The lock of a [`LockRef`], held until this is dropped: access to the data, and to a count that nobody else changes.
///
/// The functions on the count are associated, so as not to hide methods of the data. A guard stays on its thread. A
/// panic that drops it unlocks, without poisoning.
#[must_use = "dropping it unlocks at once"]
pub struct Guard<'a, T: ?Sized, P = super::Adaptive> {
    lockref: &'a LockRef<T, P>,
    thread: PhantomData<*const ()>,
}

// SAFETY: a shared guard gives shared access to the data and to the LockRef, which the two bounds allow; only `&mut`
// changes the count.
unsafe impl<T: ?Sized + Send + Sync, P: Sync> Sync for Guard<'_, T, P> {}

impl<T: ?Sized, P: Policy> LockRef<T, P> {
    /// Removes a reference unless it is the last. `Some`: it is the last and still held, and the caller has the lock.
    /// It now either gives the reference up ([`Guard::put`]) and leaves the object idle, or marks it dead
    /// ([`Guard::mark_dead`]).
    ///
    /// A count of zero or less, of which nobody holds a reference, is reported and locked.
    ///
    /// Ordering: Release; Acquire with the lock, after every earlier put. Cost: as [`get`](Self::get).
    #[doc(alias = "lockref_put_or_lock")]
    #[inline]
    #[must_use = "`Some` is the last reference, still held, and the lock"]
    #[track_caller]
    pub fn put_or_lock(&self) -> Option<Guard<'_, T, P>> {
        match update::<PutOrLock>(&self.word, &self.policy) {
            Ok(_) => None,
            Err(found) => self.put_or_lock_slow(found),
        }
    }

    #[cold]
    #[inline(never)]
    #[track_caller]
    fn put_or_lock_slow(&self, found: u64) -> Option<Guard<'_, T, P>> {
        match update_slow::<PutOrLock, P>(&self.word, &self.policy, found) {
            Outcome::Locked(event) => {
                // SAFETY: `Locked` says that this thread holds the lock.
                let guard = unsafe { Guard::new(self) };
                // After making the guard, which unlocks if the program's hook panics.
                report(&self.word, event);
                Some(guard)
            }
            _ => None,
        }
    }

    /// Takes the lock, under which nobody else changes the count.
    ///
    /// Ordering: Acquire, after every earlier put and unlock. Cost: a load and a CMPXCHG; under contention a turn in
    /// the queue. A thread that already holds it waits for ever.
    #[inline]
    pub fn lock(&self) -> Guard<'_, T, P> {
        update::lock(&self.word, &self.policy, false);
        // SAFETY: just locked.
        unsafe { Guard::new(self) }
    }

    /// Takes the lock if it is free.
    ///
    /// Ordering: Acquire, after every put and unlock before. Cost: a load and a CMPXCHG.
    #[inline]
    pub fn try_lock(&self) -> Option<Guard<'_, T, P>> {
        // SAFETY: just locked, where it says so.
        self.word.try_lock().then(|| unsafe { Guard::new(self) })
    }

    /// The guard of a lock that the calling thread holds and whose own guard was forgotten: for code that keeps a lock across
    /// calls, as C does.
    ///
    /// # Safety
    /// The calling thread holds the lock, and no other guard of it is used.
    pub unsafe fn make_guard_unchecked(&self) -> Guard<'_, T, P> {
        // SAFETY: the caller's word.
        unsafe { Guard::new(self) }
    }
}

impl<'a, T: ?Sized, P> Guard<'a, T, P> {
    /// # Safety
    /// This thread has just taken the lock and nothing else will release it.
    pub(super) unsafe fn new(lockref: &'a LockRef<T, P>) -> Self {
        Self {
            lockref,
            thread: PhantomData,
        }
    }

    /// The `LockRef` whose lock this is.
    #[must_use]
    pub fn lockref(guard: &Self) -> &'a LockRef<T, P> {
        guard.lockref
    }

    /// The count, in the form of [`LockRef::count`]. Exact while the guard exists.
    #[must_use]
    pub fn count(guard: &Self) -> i32 {
        guard.lockref.count()
    }

    /// Whether the object is dead.
    #[must_use]
    pub fn is_dead(guard: &Self) -> bool {
        guard.lockref.is_dead()
    }

    /// Adds a reference, also to an idle object: `count++` under the kernel's lock. A dead object stays dead, and that
    /// is reported.
    ///
    /// Ordering: that of the lock. Cost: one ADD.
    #[track_caller]
    pub fn get(guard: &mut Self) {
        guard.apply::<LockedGet>();
    }

    /// Removes a reference and returns the new count: `count--` under the kernel's lock. 0: the object is idle.
    ///
    /// Misuse is reported: without a reference, an idle count is saturated, because a reference is missing, and a dead
    /// one stays dead.
    ///
    /// Ordering: that of the lock. Cost: one ADD.
    #[track_caller]
    pub fn put(guard: &mut Self) -> i32 {
        guard.apply::<LockedPut>()
    }

    /// Marks the object dead: from here on nobody gets a reference, and the count is lost. The caller knows that the
    /// only reference is its own.
    ///
    /// Ordering: that of the lock; a refused get orders nothing. Cost: one ADD.
    #[doc(alias = "lockref_mark_dead")]
    pub fn mark_dead(guard: &mut Self) {
        let old = Self::count(guard);
        // Relaxed: the unlock is the Release, and only the lock's holder changes the count.
        guard.lockref.word.whole().add(difference(old, DEAD), Relaxed);
    }

    #[track_caller]
    fn apply<O: Operation>(&mut self) -> i32 {
        let (outcome, event) = apply::<O>(&self.lockref.word);
        report(&self.lockref.word, event);
        match outcome {
            Outcome::Done(count) => count,
            _ => Self::count(self),
        }
    }
}

impl<T: ?Sized, P> Deref for Guard<'_, T, P> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the lock is held (1), so nobody else reaches the data.
        unsafe { &*self.lockref.data() }
    }
}

impl<T: ?Sized, P> DerefMut for Guard<'_, T, P> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the lock is held (1), so nobody else reaches the data, and this guard is borrowed mutably.
        unsafe { &mut *self.lockref.data() }
    }
}

impl<T: ?Sized, P> Drop for Guard<'_, T, P> {
    #[inline]
    fn drop(&mut self) {
        self.lockref.word.unlock();
    }
}

impl<T: ?Sized + fmt::Debug, P> fmt::Debug for Guard<'_, T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}
