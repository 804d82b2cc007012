//! [`LockRef`]: the word, the data, and the operations without the lock.
//!
//! # Safety
//! 1. The data is reached through a [`Guard`](super::Guard), which exists only while its thread holds the lock, or through `&mut` and
//!    by value, when nobody else can reach it.
#![expect(unsafe_code, reason = "data that a lock protects")]

use super::adaptive::Adaptive;
use super::operation::{self, Get, GetNotDead, GetNotZero, Operation, PutReturn};
use super::policy::Policy;
use super::update::{Outcome, update, update_slow};
use super::word::Word;
use crate::primitive::const_fn;
use core::cell::UnsafeCell;
use core::fmt;
use core::sync::atomic::Ordering::{Acquire, Relaxed};

/// A lock and a reference count in one word, over data that the lock protects.
///
/// The count shows whether the object is in use. Under the lock it does not change, so the holder can revive or retire
/// the object. See the [module](super) for states, ordering and cost.
///
/// References are counted, not owned: an operation too many or too few is an error of the program, detected where
/// possible, and never undefined behaviour. [`Ref`](super::Ref) is a reference that puts itself.
///
/// # Examples
/// A cache entry that is closed when its last user is gone:
/// ```
/// use cyclewise::refs::lockref::{Guard, LockRef};
///
/// static ENTRY: LockRef<Option<String>> = LockRef::new(None); // one reference, the cache's
/// *ENTRY.lock() = Some("contents".to_string());
///
/// assert!(ENTRY.get_not_dead()); // a user's reference
/// assert!(ENTRY.put_or_lock().is_none()); // put; it was not the last
///
/// // The cache gives up its own, which is the last: the lock comes with it, and nobody gets in between.
/// let mut guard = ENTRY.put_or_lock().expect("the last one");
/// Guard::mark_dead(&mut guard);
/// *guard = None;
/// drop(guard);
/// assert!(!ENTRY.get_not_dead());
/// ```
#[repr(C)]
pub struct LockRef<T: ?Sized, P = Adaptive> {
    pub(super) word: Word,
    pub(super) policy: P,
    data: UnsafeCell<T>,
}

// SAFETY: the data moves with it, and its new owner has the only access (1).
unsafe impl<T: ?Sized + Send, P: Send> Send for LockRef<T, P> {}
// SAFETY: one thread at a time reaches the data (1), as if it were sent there and back. The policy is shared as it is.
unsafe impl<T: ?Sized + Send, P: Sync> Sync for LockRef<T, P> {}

impl<T> LockRef<T> {
    const_fn! {
        /// A `LockRef` with one reference, the caller's.
        #[must_use]
        pub fn new(data: T) -> Self {
            Self::with_policy(1, data, Adaptive::new())
        }
    }
}

impl<T, P> LockRef<T, P> {
    /// The largest exact count; past it the count is saturated, and the object never becomes idle.
    pub const MAX: u32 = operation::MAX.cast_unsigned();

    const_fn! {
        /// A `LockRef` with `count` references, saturated past [`MAX`](Self::MAX), and a policy for contention.
        #[doc(alias = "lockref_init")]
        #[must_use]
        pub fn with_policy(count: u32, data: T, policy: P) -> Self {
            let count = if count > Self::MAX { operation::SATURATED } else { count.cast_signed() };
            Self {
                word: Word::new(count),
                policy,
                data: UnsafeCell::new(data),
            }
        }
    }

    /// The data. References that are still counted are void.
    pub fn into_inner(self) -> T {
        self.data.into_inner()
    }
}

impl<T: ?Sized, P> LockRef<T, P> {
    /// The data, without the lock, which nobody else can hold.
    pub fn get_mut(&mut self) -> &mut T {
        self.data.get_mut()
    }

    /// The count at some moment, in the kernel's form: negative if dead, [`i32::MAX`] if saturated.
    ///
    /// Ordering: none. Cost: a load.
    #[inline]
    pub fn count(&self) -> i32 {
        operation::count(self.word.whole().load(Relaxed))
    }

    /// Whether the object is dead. Once true, always true.
    ///
    /// Ordering: none; under the lock it is exact. Cost: a load.
    #[doc(alias = "__lockref_is_dead")]
    #[inline]
    pub fn is_dead(&self) -> bool {
        self.count() < 0
    }

    /// The policy.
    pub fn policy(&self) -> &P {
        &self.policy
    }

    /// The data, for the holder of the lock.
    pub(super) fn data(&self) -> *mut T {
        self.data.get()
    }
}

impl<T: ?Sized, P: Policy> LockRef<T, P> {
    /// Adds a reference. The caller already holds one.
    ///
    /// Misuse is reported: without a reference, an idle count is saturated, because an uncounted user exists, and a
    /// dead one stays dead.
    ///
    /// Ordering: none, because the caller already holds a reference. Cost: a load and a CMPXCHG; waits for the lock.
    #[doc(alias = "lockref_get")]
    #[inline]
    #[track_caller]
    pub fn get(&self) {
        if let Err(found) = update::<Get>(&self.word, &self.policy) {
            self.get_slow::<Get>(found);
        }
    }

    /// The slow path of a get; whether it is counted.
    #[cold]
    #[inline(never)]
    #[track_caller]
    fn get_slow<O: Operation>(&self, found: u64) -> bool {
        update_slow::<O, P>(&self.word, &self.policy, found) != Outcome::Refused
    }

    /// Adds a reference unless there is none, or the object is dead. `false`: not added.
    ///
    /// Ordering: Acquire if added, after every earlier put and unlock. Cost: as [`get`](Self::get).
    #[doc(alias = "lockref_get_not_zero")]
    #[inline]
    #[must_use = "`false`: no reference was taken"]
    #[track_caller]
    pub fn get_not_zero(&self) -> bool {
        match update::<GetNotZero>(&self.word, &self.policy) {
            Ok(_) => true,
            Err(found) => self.get_slow::<GetNotZero>(found),
        }
    }

    /// Adds a reference unless the object is dead. `false`: not added.
    ///
    /// Ordering: Acquire if added, after every earlier put and unlock. Cost: as [`get`](Self::get).
    #[doc(alias = "lockref_get_not_dead")]
    #[inline]
    #[must_use = "`false`: no reference was taken"]
    #[track_caller]
    pub fn get_not_dead(&self) -> bool {
        match update::<GetNotDead>(&self.word, &self.policy) {
            Ok(_) => true,
            Err(found) => self.get_slow::<GetNotDead>(found),
        }
    }

    /// Removes a reference if that is possible without the lock, and returns the new count. 0: it was the last, and the
    /// object is idle. `None`: not removed, because the lock is held, the tries are exhausted, or the count is zero or
    /// less.
    ///
    /// Ordering: Release; Acquire if it was the last. Cost: a load and a CMPXCHG. Never waits for the lock.
    #[doc(alias = "lockref_put_return")]
    #[inline]
    #[must_use = "`None`: the caller still holds the reference"]
    pub fn put_return(&self) -> Option<u32> {
        match update::<PutReturn>(&self.word, &self.policy) {
            Ok(count) => Some(self.acquired(count)),
            Err(found) => self.put_return_slow(found),
        }
    }

    #[cold]
    #[inline(never)]
    fn put_return_slow(&self, found: u64) -> Option<u32> {
        match update_slow::<PutReturn, P>(&self.word, &self.policy, found) {
            Outcome::Done(count) => Some(self.acquired(count)),
            _ => None,
        }
    }

    #[inline(always)]
    fn acquired(&self, count: i32) -> u32 {
        if count == 0 {
            // Acquire: pairs with the Release of all earlier puts. A load, because `ThreadSanitizer` does not model
            // fences.
            self.word.whole().load(Acquire);
        }
        count.cast_unsigned()
    }
}

impl<T: ?Sized, P: fmt::Debug> fmt::Debug for LockRef<T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LockRef")
            .field("count", &self.count())
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}

impl<T: Default> Default for LockRef<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}
