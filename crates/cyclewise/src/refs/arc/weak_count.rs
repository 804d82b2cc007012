//! The count of weak references. All strong references together count as one weak reference, given up when the value is
//! destroyed.
//!
//! # States
//! As [`Count`], without `CLAIMED`. [`SOLE`] means that only the strong references' own is left.
//!
//! # Memory ordering
//! A downgrade is relaxed, like any increment. `Arc::get_mut` on another thread sees it all the same: the drop of the
//! strong reference that it was made from is Release, and the claim of `get_mut` is Acquire.

use super::count::{Count, SOLE, references};
use core::sync::atomic::Ordering::{Acquire, Relaxed};

#[repr(transparent)]
pub(super) struct WeakCount(Count);

impl WeakCount {
    /// A count in one of the states above.
    pub(super) fn new(state: usize) -> Self {
        Self(Count::new(state))
    }

    /// Adds a weak reference, made from a weak or a strong one.
    #[inline]
    pub(super) fn inc(&self) {
        self.0.inc();
    }

    /// Gives up a weak reference; `true` if it was the last of either kind, and the memory can be freed.
    #[inline]
    pub(super) fn dec_and_test(&self) -> bool {
        self.0.dec_and_test()
    }

    /// Whether there is no weak reference. The caller holds the only strong one.
    #[inline]
    pub(super) fn is_sole(&self) -> bool {
        // Acquire: pairs with the Release in `dec_and_test` of weak references: a strong reference upgraded from one of
        // them is then visible in the strong count.
        self.0.atomic().load(Acquire) == SOLE
    }

    /// The number of weak references at some moment, without the strong references' own; `usize::MAX` if saturated.
    pub(super) fn get(&self) -> usize {
        // Relaxed: a snapshot that orders nothing.
        match references(self.0.atomic().load(Relaxed)) {
            usize::MAX => usize::MAX,
            count => count.saturating_sub(1),
        }
    }

    /// The count itself, for tests that start at its limits.
    #[cfg(all(test, not(loom)))]
    pub(super) fn count(&self) -> &Count {
        &self.0
    }
}
