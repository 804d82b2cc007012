//! The fast paths: one compare-and-exchange to lock, a plain store and two predicted branches to unlock.
//!
//! # Memory ordering
//! Taking a lock is Acquire and pairs with the Release of its release. The light barrier and the check for sleepers
//! come after the release; they order only sleeping and waking.

use super::lock_word::{HANDOFF, LOCKED, LockWord, PENDING};
use super::park::Park;
use super::queue::{is_queued, is_waited_for, lock_slow};
use super::relax::Relax;
use super::sleepers::sleepers;
use super::turn;
use crate::primitive::cold_path;
use crate::primitive::fence;
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

/// Locks by the deadline; `false` if it passed.
#[cfg(any(test, feature = "std"))]
#[inline]
pub(crate) fn lock_until<W: LockWord, P: Park, R: Relax>(word: &W, until: P::Deadline) -> bool {
    word.try_take(0) || lock_slow::<W, P, R>(word, Some(until))
}

/// Locks, unless the lock is held or reserved for a waiter.
#[inline]
pub(crate) fn try_lock<W: LockWord>(word: &W) -> bool {
    word.try_take(0) || take_abandoned(word)
}

/// Takes a lock that is reserved or handed over, and that nobody waits for: the head has given up, or a fork has left it behind.
pub(super) fn take_abandoned<W: LockWord>(word: &W) -> bool {
    let found = word.bits();
    matches!(found, PENDING | HANDOFF) && !is_waited_for(word) && word.try_take(found)
}

/// Whether it was held at some moment of the call.
#[inline]
pub(crate) fn is_locked<W: LockWord>(word: &W) -> bool {
    word.bits() & LOCKED != 0
}

/// Unlocks what the caller holds.
#[inline(always)]
pub(crate) fn unlock<W: LockWord, P: Park>(word: &W) {
    let key = word.address();
    if !word.release_alone() {
        turn::release::<W, P>(word);
    }
    // The lock may be freed from here on.
    released::<P>(key);
}

/// Unlocks what the caller holds, and hands it to the head if there is a queue.
#[inline]
pub(crate) fn unlock_fair<W: LockWord, P: Park>(word: &W) {
    let key = word.address();
    if is_queued(word) {
        // Waiters that never sleep could keep the head's CPU from it.
        word.release_to_head(if P::SLEEPS { HANDOFF } else { PENDING });
    } else {
        word.release();
    }
    released::<P>(key);
}

/// The check for sleepers that follows every release of the lock at `key`.
#[inline(always)]
pub(crate) fn released<P: Park>(key: usize) {
    if P::SLEEPS {
        // Generates no code if the barrier cannot unwind.
        let check = CheckOnUnwind::<P>(key, PhantomData);
        P::light();
        forget(check);
        if sleepers().any() {
            cold_path();
            wake_slow::<P>(key);
        }
    }
}

/// Takes only the key, so that the fast path keeps no other register.
#[cold]
#[inline(never)]
fn wake_slow<P: Park>(key: usize) {
    sleepers().wake::<P>(key);
}

/// The check for sleepers where the program's barrier unwinds.
struct CheckOnUnwind<P: Park>(usize, PhantomData<P>);

impl<P: Park> Drop for CheckOnUnwind<P> {
    #[cold]
    fn drop(&mut self) {
        // Replaces the light barrier, and is stronger.
        fence(SeqCst);
        if sleepers().any() {
            wake_slow::<P>(self.0);
        }
    }
}
