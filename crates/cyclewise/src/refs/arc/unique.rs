//! Operations of a sole owner: changing the value in place, and taking it out.
//!
//! # Invariants
//! 1. While the strong count is 1 and there is no weak reference, only the holder of that reference can reach the value
//!    or make another reference.
//! 2. The thread that takes the strong count from one to zero is the only one that can reach the value: from then on
//!    `Weak::upgrade` fails.
//!
//! # Safety
//! The proofs cite these two and those of [`Arc`].
#![expect(unsafe_code, reason = "mutable access to a shared value once it is not shared")]

use super::Arc;
use super::allocation;
use super::count::Count;
use super::weak::Weak;
use core::ffi::CStr;
use core::mem::{ManuallyDrop, forget, replace};

impl<T: ?Sized> Arc<T> {
    /// A mutable reference to the value, if this is the only reference of either kind.
    ///
    /// On success, acquires every drop of another reference. It makes nobody wait: if an upgrade comes while it checks,
    /// the upgrade succeeds and this returns `None`.
    pub fn get_mut(this: &mut Self) -> Option<&mut T> {
        let counts = this.counts();
        // The claim detects a weak reference that is upgraded between the two checks and so is missed by both. The
        // first check avoids a claim that would be in vain.
        if !counts.weak.is_sole() || !counts.strong.claim() {
            return None;
        }
        if !counts.weak.is_sole() || !counts.strong.is_claimed() {
            counts.strong.unclaim();
            return None;
        }
        counts.strong.unclaim_alone();
        // SAFETY: the claim was unbroken when the weak count was checked, so there was neither a weak reference nor a
        // second strong one (Invariant 1), and none can be made while `this` is borrowed mutably.
        Some(unsafe { Self::get_mut_unchecked(this) })
    }

    /// A mutable reference to the value, without a check of the counts.
    ///
    /// # Safety
    /// While the result lives, no other `Arc` or `Weak` to this value is used to reach it, nor a reference made from
    /// one before. All of them have the same type, so that none reads what was written as another type.
    pub unsafe fn get_mut_unchecked(this: &mut Self) -> &mut T {
        // SAFETY: live (Invariant 1 of Arc); the caller guarantees that nobody else reaches it.
        unsafe { this.value.as_mut() }
    }
}

impl<T: ?Sized + CloneArc> Arc<T> {
    /// A mutable reference to the value: in place if this is the only strong reference, to a clone otherwise.
    ///
    /// If there are weak references, the value moves to new memory and they cannot be upgraded any more. On success in
    /// place, acquires every drop of another reference.
    ///
    /// # Panics
    /// If the value's `clone` panics; then nothing has changed.
    pub fn make_mut(this: &mut Self) -> &mut T {
        let counts = this.counts();
        if !counts.strong.take_if_sole() {
            *this = T::clone_arc(this);
        } else if !counts.weak.is_sole() {
            let undo = Revive(&counts.strong);
            // SAFETY: the old memory is never read as a value again: no strong reference is left, and `this` moves to
            // the copy.
            let moved = unsafe { allocation::copy(&**this) };
            forget(undo);
            // SAFETY: new memory with the value in it, and a count of 1 for this Arc.
            let moved = unsafe { Self::from_value(moved) };
            // SAFETY: the unit of the weak count that all strong references have, now that there are none.
            let _weak = unsafe { Weak::from_value(this.value) };
            forget(replace(this, moved));
        } else {
            // There was nobody else to see it dead.
            counts.strong.revive();
        }
        // SAFETY: new memory in the first two cases. In the third the strong count was one and then zero while there
        // was no weak reference, so there is none of either kind (Invariants 1 and 2).
        unsafe { Self::get_mut_unchecked(this) }
    }
}

/// Undoes [`Count::take_if_sole`] if the allocation fails and its handler unwinds: the `Arc` still exists and has to be
/// counted.
struct Revive<'a>(&'a Count);

impl Drop for Revive<'_> {
    fn drop(&mut self) {
        self.0.revive();
    }
}

impl<T> Arc<T> {
    /// The value itself, if this is the only strong reference; otherwise the same `Arc`.
    ///
    /// On success, acquires every drop of another reference. If several holders call it at once, none may succeed;
    /// [`Arc::into_inner`] succeeds for exactly one.
    ///
    /// # Errors
    /// The same `Arc`, if another strong reference exists.
    pub fn try_unwrap(this: Self) -> Result<T, Self> {
        if !this.counts().strong.take_if_sole() {
            return Err(this);
        }
        // SAFETY: that was the last reference, and `this` is forgotten.
        Ok(unsafe { Self::take(ManuallyDrop::new(this)) })
    }

    /// Drops this reference, and returns the value if it was the last strong one.
    ///
    /// If all holders call it, in any order and on any thread, exactly one gets the value. Release, and Acquire for
    /// that one.
    #[must_use = "it returns the value; drop the `Arc` to drop the value"]
    pub fn into_inner(this: Self) -> Option<T> {
        let this = ManuallyDrop::new(this);
        // SAFETY: that was the last reference, and `this` is not dropped.
        this.counts().strong.dec_and_test().then(|| unsafe { Self::take(this) })
    }

    /// # Safety
    /// Giving up this reference has just taken the strong count to 0.
    unsafe fn take(this: ManuallyDrop<Self>) -> T {
        // Gives up the memory.
        // SAFETY: the unit of the weak count that all strong references have, now that there are none.
        let _weak = unsafe { Weak::from_value(this.value) };
        // SAFETY: live until here, and nobody reaches it again (Invariant 2).
        unsafe { this.value.read() }
    }
}

impl<T: Clone> Arc<T> {
    /// The value itself if this is its only strong reference, a clone of it otherwise.
    ///
    /// # Panics
    /// If the value's `clone` panics.
    pub fn unwrap_or_clone(this: Self) -> T {
        Self::try_unwrap(this).unwrap_or_else(|shared| (*shared).clone())
    }
}

/// What can be cloned into an `Arc` of its own: everything that is `Clone`, slices of it, and strings.
///
/// Sealed: [`Arc::make_mut`] relies on the result being the only reference.
pub trait CloneArc: sealed::Sealed {
    /// A new `Arc` with a clone, the only reference to it.
    #[doc(hidden)]
    fn clone_arc(&self) -> Arc<Self>;
}

pub(super) mod sealed {
    //! Keeps the trait to the types below, and those of `os`.

    use core::ffi::CStr;

    pub trait Sealed {}
    impl<T: Clone> Sealed for T {}
    impl<T: Clone> Sealed for [T] {}
    impl Sealed for str {}
    impl Sealed for CStr {}
}

impl<T: Clone> CloneArc for T {
    fn clone_arc(&self) -> Arc<Self> {
        Arc::new(self.clone())
    }
}

impl<T: Clone> CloneArc for [T] {
    fn clone_arc(&self) -> Arc<Self> {
        Arc::from(self)
    }
}

impl CloneArc for str {
    fn clone_arc(&self) -> Arc<Self> {
        Arc::from(self)
    }
}

impl CloneArc for CStr {
    fn clone_arc(&self) -> Arc<Self> {
        Arc::from(self)
    }
}
