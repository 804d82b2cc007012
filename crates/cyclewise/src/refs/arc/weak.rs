//! `Weak`: a reference that keeps the memory and not the value.
//!
//! # Invariants
//! 1. A `Weak` either dangles, which its address shows, or points into memory made by [`allocation`] and owns one unit
//!    of its weak count.
//!
//! # Safety
//! The proofs cite this one and those of [`allocation`]. The value may be destroyed or incomplete at any moment, so no
//! code here makes a reference to it.
#![expect(unsafe_code, reason = "ownership by reference count")]

use super::Arc;
use super::allocation::{self, Counts};
use core::fmt;
use core::num::NonZeroUsize;
use core::ptr::{self, NonNull};

/// The address of a `Weak` without memory. No value can be there: its memory would end past the end of the address
/// space.
const DANGLING: NonZeroUsize = NonZeroUsize::MAX;

/// Whether this is the address of a `Weak` without memory.
fn is_dangling<T: ?Sized>(pointer: *const T) -> bool {
    pointer.addr() == DANGLING.get()
}

/// A reference that does not keep its value alive: std's [`Weak`](alloc::sync::Weak).
///
/// ```
/// use cyclewise::refs::Arc;
///
/// let owner = Arc::new(5);
/// let observer = Arc::downgrade(&owner);
/// assert_eq!(observer.upgrade().as_deref(), Some(&5));
/// drop(owner);
/// assert!(observer.upgrade().is_none());
/// ```
pub struct Weak<T: ?Sized> {
    pub(super) value: NonNull<T>,
}

// SAFETY: an upgrade makes an Arc, which is Send under the same bounds; the counts are atomic.
unsafe impl<T: ?Sized + Sync + Send> Send for Weak<T> {}
// SAFETY: `clone` and `upgrade` of a shared Weak make a Weak or an Arc, which are Send under the same bounds.
unsafe impl<T: ?Sized + Sync + Send> Sync for Weak<T> {}

impl<T> Weak<T> {
    /// A reference to nothing, without memory; [`Weak::upgrade`] returns `None`.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            value: NonNull::new(ptr::without_provenance_mut(DANGLING.get())).expect("the last address"),
        }
    }
}

impl<T: ?Sized> Weak<T> {
    /// # Safety
    /// The caller gives the new Weak a unit of the weak count (Invariant 1).
    #[inline]
    pub(super) const unsafe fn from_value(value: NonNull<T>) -> Self {
        Self { value }
    }

    /// The counts, if there is memory.
    #[inline]
    pub(super) fn counts(&self) -> Option<&Counts> {
        if is_dangling(self.value.as_ptr()) {
            return None;
        }
        // SAFETY: the memory is there while `self` is (Invariant 1).
        Some(unsafe { allocation::counts(self.value) })
    }

    /// Makes a strong reference, unless the value is destroyed or not complete yet.
    ///
    /// Lock-free: it loops only if another thread changed the count. Acquires the completion of a value made by
    /// [`Arc::new_cyclic`].
    #[must_use = "dropping the reference at once has no effect"]
    #[inline]
    pub fn upgrade(&self) -> Option<Arc<T>> {
        if !self.counts()?.strong.inc_unless_dead() {
            return None;
        }
        // SAFETY: the value is live because a strong reference exists, and one more was just added.
        Some(unsafe { Arc::from_value(self.value) })
    }

    /// The number of strong references at some moment; `usize::MAX` if the count is saturated.
    #[must_use]
    pub fn strong_count(&self) -> usize {
        self.counts().map_or(0, |counts| counts.strong.get())
    }

    /// The number of weak references at some moment; 0 if no strong one is left.
    #[must_use]
    pub fn weak_count(&self) -> usize {
        self.counts().map_or(0, |counts| match counts.strong.get() {
            0 => 0,
            _ => counts.weak.get(),
        })
    }

    /// Whether both point to the same allocation, or both to none.
    #[must_use]
    pub fn ptr_eq(&self, other: &Self) -> bool {
        ptr::addr_eq(self.value.as_ptr(), other.value.as_ptr())
    }
}

impl<T: ?Sized> Clone for Weak<T> {
    /// Makes another weak reference. Orders nothing (Relaxed). Past 2^63 references the count saturates.
    #[inline]
    fn clone(&self) -> Self {
        if let Some(counts) = self.counts() {
            counts.weak.inc();
        }
        // SAFETY: its unit was just added, or it dangles as `self` does.
        unsafe { Self::from_value(self.value) }
    }
}

impl<T: ?Sized> Drop for Weak<T> {
    /// Gives up the reference: Release. The last one of either kind acquires what the others released, and frees the
    /// memory.
    #[inline]
    fn drop(&mut self) {
        if self.counts().is_some_and(|counts| counts.weak.dec_and_test()) {
            // SAFETY: no reference of either kind is left, and the value is destroyed or was never written.
            unsafe { allocation::free(self.value) };
        }
    }
}

impl<T> Default for Weak<T> {
    /// [`Weak::new`].
    fn default() -> Self {
        Self::new()
    }
}

impl<T: ?Sized> fmt::Debug for Weak<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(Weak)")
    }
}
