//! The count of weak references. All strong references together count as one weak one, which goes when the value is
//! destroyed.
//!
//! # States
//! As [`Count`], without `CLAIMED`; [`SOLE`] is the reference of the strong ones.
//!
//! # Memory ordering
//! A downgrade is relaxed, as any increment. What it owes to `Arc::get_mut` of another thread is seen by the drop of the
//! strong reference it was made from: that is Release, and the claim of `get_mut` Acquire.

use super::count::{Count, SOLE, references};
use core::sync::atomic::Ordering::{Acquire, Relaxed};

/// A count of weak references.
#[repr(transparent)]
pub(super) struct WeakCount(Count);

impl WeakCount {
    /// A count in one of the states above.
    pub(super) fn new(state: usize) -> Self {
        Self(Count::new(state))
    }

    /// Counts one more weak reference, made from a weak or a strong one.
    #[inline]
    pub(super) fn inc(&self) {
        self.0.inc();
    }

    /// Gives up a weak reference; `true` if it was the last of all, so that the memory can go.
    #[inline]
    pub(super) fn dec_and_test(&self) -> bool {
        self.0.dec_and_test()
    }

    /// Whether there is no weak reference, asked by the holder of the only strong one.
    #[inline]
    pub(super) fn is_sole(&self) -> bool {
        // Acquire: pairs with the Release in `dec_and_test` of weak references, so that a strong one that was made from
        // them is seen in the strong count.
        self.0.atomic().load(Acquire) == SOLE
    }

    /// The weak references as of some moment, without the one of all strong ones; `usize::MAX` where saturated.
    pub(super) fn get(&self) -> usize {
        // Relaxed: a count that others change at any time orders nothing.
        match references(self.0.atomic().load(Relaxed)) {
            usize::MAX => usize::MAX,
            count => count.saturating_sub(1),
        }
    }

    /// The count itself, for the tests that start at the edges.
    #[cfg(all(test, not(loom)))]
    pub(super) fn count(&self) -> &Count {
        &self.0
    }
}
