//! The fast paths: one compare-and-exchange to lock, a plain store and two predicted branches to unlock.
//!
//! # Memory ordering
//! Taking a lock is Acquire and pairs with the Release of giving it up. The light barrier and the look at the sleepers
//! come after the release, and concern sleep only.

use super::lock_word::{LOCKED, LockWord, PENDING};
use super::park::Park;
use super::queue::{is_queued, is_waited_for, lock_slow};
use super::relax::Relax;
use super::sleepers::sleepers;
use crate::primitive::fence;
use core::hint::cold_path;
use core::marker::PhantomData;
use core::mem::forget;
use core::sync::atomic::Ordering::SeqCst;

/// Locks.
#[inline(always)]
pub(crate) fn lock<W: LockWord, P: Park, R: Relax>(word: &W) {
    if !word.try_take(0) {
        cold_path();
        lock_slow::<W, P, R>(word, None);
    }
}

/// Locks by the deadline; `false`: not locked.
#[cfg(any(test, all(feature = "std", target_os = "linux")))]
#[inline]
pub(crate) fn lock_until<W: LockWord, P: Park, R: Relax>(word: &W, until: P::Deadline) -> bool {
    word.try_take(0) || lock_slow::<W, P, R>(word, Some(until))
}

/// Locks, unless it is held or kept for a waiter.
#[inline]
pub(crate) fn try_lock<W: LockWord>(word: &W) -> bool {
    // Kept, and nobody waits: the one it was kept for has given up, or fork has left it behind.
    word.try_take(0) || (word.bits() == PENDING && !is_waited_for(word) && word.try_take(PENDING))
}

/// Whether it is held, as of some moment.
#[inline]
pub(crate) fn is_locked<W: LockWord>(word: &W) -> bool {
    word.bits() & LOCKED != 0
}

/// Unlocks what the caller holds.
#[inline(always)]
pub(crate) fn unlock<W: LockWord, P: Park>(word: &W) {
    let key = word.address();
    word.release();
    // From here on the lock may not exist any more.
    released::<P>(key);
}

/// Unlocks what the caller holds, and keeps it for the first waiter where there is one.
#[inline]
pub(crate) fn unlock_fair<W: LockWord, P: Park>(word: &W) {
    let key = word.address();
    if is_queued(word) {
        word.release_to_head();
    } else {
        word.release();
    }
    released::<P>(key);
}

/// The look at the sleepers that follows every release of the lock at `key`.
#[inline(always)]
pub(crate) fn released<P: Park>(key: usize) {
    if P::SLEEPS {
        // No code where the barrier cannot unwind.
        let unlooked = Unlooked::<P>(key, PhantomData);
        P::light();
        forget(unlooked);
        if sleepers().any() {
            cold_path();
            wake_slow::<P>(key);
        }
    }
}

/// By the key alone: the path that does not come here keeps no other register for it.
#[cold]
#[inline(never)]
fn wake_slow<P: Park>(key: usize) {
    sleepers().wake::<P>(key);
}

/// The same where the program's barrier unwinds.
struct Unlooked<P: Park>(usize, PhantomData<P>);

impl<P: Park> Drop for Unlooked<P> {
    #[cold]
    fn drop(&mut self) {
        // In the place of the light barrier, and stronger.
        fence(SeqCst);
        if sleepers().any() {
            wake_slow::<P>(self.0);
        }
    }
}
