//! The lock of 4 bytes, as `lock_api` knows locks.
//!
//! # Safety
//! 1. `lock_api` promises exclusion to its users, and `word` keeps it (its Invariant 1): the fast paths return when a `take`
//!    has succeeded, and nobody but the holder releases, by the contract of `unlock`.
#![expect(unsafe_code, reason = "RawMutex promises exclusion")]

use super::fast_path;
use super::lock_word::SplitWord;
use super::park::Park;
use super::relax::{Exponential, Relax};
use core::marker::PhantomData;
use lock_api::{GuardSend, RawMutex, RawMutexFair};

/// How waiters wait where nothing else is said: futexes on Linux, spinning elsewhere.
#[cfg(target_os = "linux")]
pub type DefaultPark = super::park::Futex;
/// How waiters wait where nothing else is said: futexes on Linux, spinning elsewhere.
#[cfg(not(target_os = "linux"))]
pub type DefaultPark = super::park::SpinOnly;

/// What waiters do between two looks where nothing else is said. The first wait of 8 pauses leaves a holder with the line for
/// about as long as the line takes to come and go: looking sooner, two threads pass it back and forth for every section.
pub type DefaultRelax = Exponential<6, 3>;

/// A queued spinlock of 4 bytes without data: for `lock_api`, and for what builds on that.
///
/// `P` is how waiters sleep and `R` what they do between two looks.
#[repr(transparent)]
pub struct RawSpinLock<P = DefaultPark, R = DefaultRelax> {
    word: SplitWord,
    ways: PhantomData<fn() -> (P, R)>,
}

// SAFETY: Invariant 1.
unsafe impl<P: Park, R: Relax> RawMutex for RawSpinLock<P, R> {
    const INIT: Self = Self {
        word: SplitWord::new(),
        ways: PhantomData,
    };

    // Nothing here knows which thread holds it.
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

#[cfg(all(feature = "std", target_os = "linux"))]
mod timed {
    use super::{RawSpinLock, fast_path};
    use crate::lock::park::{Futex, Moment};
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

/// A value behind a queued spinlock, as `lock_api` does it: `lock`, `try_lock`, `try_lock_for`, guards that unlock.
///
/// ```
/// use cyclewise::lock::SpinLock;
///
/// let lock = SpinLock::new(1);
/// *lock.lock() += 1;
/// assert_eq!(lock.into_inner(), 2);
/// ```
///
/// Waiters wait in the default ways; [`SpinLockWith`] names others. (One alias with defaults could not do both: an
/// expression does not infer parameters by their defaults.)
pub type SpinLock<T> = SpinLockWith<T, DefaultPark, DefaultRelax>;

/// What [`SpinLock::lock`] gives: the lock is held while it exists.
pub type SpinLockGuard<'a, T> = SpinLockGuardWith<'a, T, DefaultPark, DefaultRelax>;

/// A [`SpinLock`] whose waiters sleep by `P` and spin by `R`.
pub type SpinLockWith<T, P, R = DefaultRelax> = lock_api::Mutex<RawSpinLock<P, R>, T>;

/// What the `lock` of a [`SpinLockWith`] gives.
pub type SpinLockGuardWith<'a, T, P, R = DefaultRelax> = lock_api::MutexGuard<'a, RawSpinLock<P, R>, T>;
