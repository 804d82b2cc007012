//! The lock of 8 bytes as a `lock_api` lock.
//!
//! # Safety
//! 1. `lock_api` promises exclusion to its users, and `lock_word` provides it (its Invariant 1): `lock` returns when a
//!    `try_take` has succeeded, and only the holder releases, by the contract of `unlock`.
#![expect(unsafe_code, reason = "RawMutex promises exclusion")]

mod futex;

pub use futex::{Futex, Moment, NAP_NS};

use super::fast_path;
use super::lock_word::SplitWord;
use super::park::Park;
use super::relax::{Exponential, Relax};
use core::marker::PhantomData;
use lock_api::{GuardSend, RawMutex, RawMutexFair};

/// How waiters sleep by default: by futex(2).
pub type DefaultPark = Futex;

/// What waiters do between two loads of the lock by default. The first wait of 8 pauses leaves the holder the cache line for
/// about as long as the line takes to move to another CPU and back. With a shorter wait, two threads pass it back and forth for every
/// critical section.
pub type DefaultRelax = Exponential<6, 3>;

/// A queued spinlock of 8 bytes without data, for `lock_api` and code that builds on it.
///
/// `P` defines how waiters sleep, `R` what they do between two loads of the lock.
#[repr(transparent)]
pub struct RawSpinLock<P = DefaultPark, R = DefaultRelax> {
    word: SplitWord,
    policies: PhantomData<fn() -> (P, R)>,
}

// SAFETY: Invariant 1.
unsafe impl<P: Park, R: Relax> RawMutex for RawSpinLock<P, R> {
    const INIT: Self = Self {
        word: SplitWord::new(),
        policies: PhantomData,
    };

    // The lock does not record which thread holds it.
    type GuardMarker = GuardSend;

    #[inline]
    fn lock(&self) {
        fast_path::lock::<_, P, R>(&self.word);
    }

    #[inline]
    fn try_lock(&self) -> bool {
        fast_path::try_lock(&self.word)
    }

    #[inline]
    unsafe fn unlock(&self) {
        fast_path::unlock::<_, P>(&self.word);
    }

    fn is_locked(&self) -> bool {
        fast_path::is_locked(&self.word)
    }
}

// SAFETY: Invariant 1.
unsafe impl<P: Park, R: Relax> RawMutexFair for RawSpinLock<P, R> {
    unsafe fn unlock_fair(&self) {
        fast_path::unlock_fair::<_, P>(&self.word);
    }
}

#[cfg(feature = "std")]
mod timed {
    use super::{Futex, Moment, RawSpinLock, fast_path};
    use crate::lock::relax::Relax;
    use core::time::Duration;
    use std::time::Instant;

    // SAFETY: Invariant 1 of the module.
    unsafe impl<R: Relax> lock_api::RawMutexTimed for RawSpinLock<Futex, R> {
        type Duration = Duration;
        type Instant = Instant;

        fn try_lock_for(&self, timeout: Duration) -> bool {
            let timeout_ns = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
            fast_path::lock_until::<_, Futex, R>(&self.word, Moment::after_ns(timeout_ns))
        }

        fn try_lock_until(&self, timeout: Instant) -> bool {
            self.try_lock_for(timeout.saturating_duration_since(Instant::now()))
        }
    }
}

/// A value behind a queued spinlock, with `lock_api`'s methods: `lock`, `try_lock`, `try_lock_for`, guards that unlock.
///
/// ```
/// use cyclewise::lock::SpinLock;
///
/// let lock = SpinLock::new(1);
/// *lock.lock() += 1;
/// assert_eq!(lock.into_inner(), 2);
/// ```
///
/// Waiters use the default policies; [`SpinLockWith`] takes others. (One alias with default parameters would not do: in
/// expressions their defaults are not used.)
pub type SpinLock<T> = SpinLockWith<T, DefaultPark, DefaultRelax>;

/// The result of [`SpinLock::lock`]. The lock is held while it exists.
pub type SpinLockGuard<'a, T> = SpinLockGuardWith<'a, T, DefaultPark, DefaultRelax>;

/// A [`SpinLock`] whose waiters sleep by `P` and spin by `R`.
pub type SpinLockWith<T, P, R = DefaultRelax> = lock_api::Mutex<RawSpinLock<P, R>, T>;

/// The result of `lock` on a [`SpinLockWith`].
pub type SpinLockGuardWith<'a, T, P, R = DefaultRelax> = lock_api::MutexGuard<'a, RawSpinLock<P, R>, T>;
