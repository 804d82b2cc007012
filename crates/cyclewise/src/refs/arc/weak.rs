//! `Weak`: the reference that keeps the memory and not the value.
//!
//! # Invariants
//! 1. A `Weak` either dangles, which its address says, or points into memory made by [`allocation`], of whose weak count one
//!    unit is the `Weak`'s.
//!
//! # Safety
//! The proofs cite this one, and those of [`allocation`]. The value may be gone or half gone at any moment, so nothing here
//! makes a reference to it.
#![expect(unsafe_code, reason = "ownership by reference count")]

use super::Arc;
use super::allocation::{self, Counts};
use core::fmt;
use core::num::NonZeroUsize;
use core::ptr::{self, NonNull};

/// The address of a `Weak` without memory. No value is there: its memory would end past the end of the address space.
const DANGLING: NonZeroUsize = NonZeroUsize::MAX;

/// Whether the address is that of a `Weak` without memory.
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

// SAFETY: upgraded, it is an Arc, and the same bounds make that safe; the counts are atomic.
unsafe impl<T: ?Sized + Sync + Send> Send for Weak<T> {}
// SAFETY: from a shared Weak another one is made by `clone`, or an Arc by `upgrade`; the same bounds make both safe.
unsafe impl<T: ?Sized + Sync + Send> Sync for Weak<T> {}

impl<T> Weak<T> {
    /// A reference to nothing, without memory. [`Weak::upgrade`] gives `None`.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            value: NonNull::without_provenance(DANGLING),
        }
    }
}

impl<T: ?Sized> Weak<T> {
    /// # Safety
    /// A unit of the weak count is given to the new Weak (Invariant 1).
    #[inline]
    pub(super) const unsafe fn from_value(value: NonNull<T>) -> Self {
        Self { value }
    }

    /// The counts, unless there is no memory.
    #[inline]
    pub(super) fn counts(&self) -> Option<&Counts> {
        if is_dangling(self.value.as_ptr()) {
            return None;
        }
        // SAFETY: the memory is there while `self` is (Invariant 1).
        Some(unsafe { allocation::counts(self.value) })
    }

    /// A strong reference, unless the value is destroyed or not there yet.
    ///
    /// Lock-free: a loop that is repeated only if another thread changed the count. Acquires the completion of a value
    /// made by [`Arc::new_cyclic`].
    #[must_use = "a strong reference that is dropped at once was counted for nothing"]
    #[inline]
    pub fn upgrade(&self) -> Option<Arc<T>> {
        if !self.counts()?.strong.inc_unless_dead() {
            return None;
        }
        // SAFETY: the value is live, because a strong reference exists, and one more was just counted.
        Some(unsafe { Arc::from_value(self.value) })
    }

    /// How many strong references there are, as of some moment; `usize::MAX` where the count is saturated.
    #[must_use]
    pub fn strong_count(&self) -> usize {
        self.counts().map_or(0, |counts| counts.strong.get())
    }

    /// How many weak references there are, as of some moment; 0 where no strong one is left.
    #[must_use]
    pub fn weak_count(&self) -> usize {
        self.counts().map_or(0, |counts| match counts.strong.get() {
            0 => 0,
            _ => counts.weak.get(),
        })
    }

    /// Whether both point at one allocation, or both at none.
    #[must_use]
    pub fn ptr_eq(&self, other: &Self) -> bool {
        ptr::addr_eq(self.value.as_ptr(), other.value.as_ptr())
    }
}

impl<T: ?Sized> Clone for Weak<T> {
    /// One more weak reference. Orders nothing (Relaxed). Past 2^63 references the count saturates.
    #[inline]
    fn clone(&self) -> Self {
        if let Some(counts) = self.counts() {
            counts.weak.inc();
        }
        // SAFETY: its unit was just counted, or it dangles as `self` does.
        unsafe { Self::from_value(self.value) }
    }
}

impl<T: ?Sized> Drop for Weak<T> {
    /// Release; the last one of all acquires what the others released, and frees the memory.
    #[inline]
    fn drop(&mut self) {
        if self.counts().is_some_and(|counts| counts.weak.dec_and_test()) {
            // SAFETY: no reference of either kind is left, and the value is gone or was never there.
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
