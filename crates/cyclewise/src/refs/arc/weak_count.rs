//! The count of weak references, with one more state: locked while somebody asks whether a value is his alone.
//!
//! All strong references together count as one weak one, which goes when the value is destroyed.
//!
//! # States
//! As [`Count`]; [`SOLE`] is the reference of the strong ones. And [`LOCKED`]: also [`SOLE`], and no weak reference is
//! made until the lock is open again.
//!
//! # Memory ordering
//! The lock's Acquire is what `Arc::get_mut` stands on. The Release that opens it and the Acquire of a downgrade are
//! std's, kept because they are free on x86-64 and rare elsewhere: loom finds no order of accesses that needs them.
//!
//! # Invariants
//! 1. While the count is [`LOCKED`] no weak reference exists, so only a holder of a strong one can want to count one
//!    (`inc_unless_locked`, which waits), and nobody gives one up.
//! 2. A saturated count is never mistaken for [`LOCKED`]: it stays about [`SATURATED`](super::count::SATURATED), by the
//!    argument in [`count`](super::count), which has room for one state more beside `DEAD`.

use super::count::{Count, SOLE, incremented, references};
use super::facade::spin_loop;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// One holder of the value is looking whether he is the only one. As an `isize` it is −2.
pub(super) const LOCKED: usize = usize::MAX - 1;

/// A count of weak references.
#[repr(transparent)]
pub(super) struct WeakCount(Count);

impl WeakCount {
    /// A count in one of the states above.
    pub(super) fn new(state: usize) -> Self {
        Self(Count::new(state))
    }

    /// Counts one more weak reference made from a weak one.
    #[inline]
    pub(super) fn inc(&self) {
        // A weak reference exists, so the count is not LOCKED (Invariant 1).
        self.0.inc();
    }

    /// Gives up a weak reference; `true` if it was the last of all, so that the memory can go.
    #[inline]
    pub(super) fn dec_and_test(&self) -> bool {
        self.0.dec_and_test()
    }

    /// Counts one more weak reference made from a strong one, once nobody has the count locked.
    pub(super) fn inc_unless_locked(&self) {
        let atomic = self.0.atomic();
        // Relaxed: only a guess for the exchange.
        let mut stored = atomic.load(Relaxed);
        loop {
            if stored == LOCKED {
                spin_loop();
                // Relaxed: as above.
                stored = atomic.load(Relaxed);
                continue;
            }
            // Acquire: pairs with the Release in `unlock`, so that who looked for other holders is done looking.
            match atomic.compare_exchange_weak(stored, incremented(stored), Acquire, Relaxed) {
                Ok(_) => return,
                Err(now) => stored = now,
            }
        }
    }

    /// Locks the count if there is no weak reference.
    pub(super) fn lock_if_sole(&self) -> bool {
        // Acquire: pairs with the Release in `dec_and_test` of weak references, so that a strong one that was made from
        // them is seen in the strong count. Relaxed on failure: nothing is done then.
        self.0.atomic().compare_exchange(SOLE, LOCKED, Acquire, Relaxed).is_ok()
    }

    /// Opens the lock.
    pub(super) fn unlock(&self) {
        // Release: pairs with the Acquire in `inc_unless_locked`.
        self.0.atomic().store(SOLE, Release);
    }

    /// Whether there is no weak reference, asked by the only one who knows of the value.
    pub(super) fn is_sole(&self) -> bool {
        // Relaxed: a weak reference is made from a strong one, whose end the caller has acquired; one that goes at this
        // moment has not touched the value since its last strong one went, which the caller has acquired too.
        self.0.atomic().load(Relaxed) == SOLE
    }

    /// The weak references as of some moment, without the one of all strong ones; `usize::MAX` where saturated.
    pub(super) fn get(&self) -> usize {
        // Relaxed: a count that others change at any time orders nothing.
        match self.0.atomic().load(Relaxed) {
            LOCKED => 0,
            stored => match references(stored) {
                usize::MAX => usize::MAX,
                count => count.saturating_sub(1),
            },
        }
    }

    /// The count itself, for the tests that start at the edges.
    #[cfg(all(test, not(loom)))]
    pub(super) fn count(&self) -> &Count {
        &self.0
    }
}
