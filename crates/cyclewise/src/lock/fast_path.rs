//! The fast paths: one compare-and-exchange to lock, a plain store and two predicted branches to unlock.
//!
//! # Memory ordering
//! Taking a lock is Acquire and pairs with the Release of its release. The light barrier and the check for sleepers
//! come after the release; they order only sleeping and waking.

use super::lock_word::{HANDOFF, LOCKED, LockWord, PENDING};
use super::nodes::is_queued;
use super::park::Park;
use super::queue::{lock_slow, take_abandoned};
use super::relax::Relax;
use super::sleepers::released;
use super::turn;
use crate::primitive::cold_path;

#[inline(always)]
pub(crate) fn lock<W: LockWord, P: Park, R: Relax>(word: &W) {
    if !word.try_take(0) {
        cold_path();
        lock_slow::<W, P, R>(word, None);
    }
}

/// Locks by the deadline; `false` if it passed.
#[inline]
pub(crate) fn lock_until<W: LockWord, P: Park, R: Relax>(word: &W, until: P::Deadline) -> bool {
    word.try_take(0) || lock_slow::<W, P, R>(word, Some(until))
}

/// Locks, unless the lock is held or reserved for a waiter.
#[inline]
pub(crate) fn try_lock<W: LockWord>(word: &W) -> bool {
    word.try_take(0) || take_abandoned(word)
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
