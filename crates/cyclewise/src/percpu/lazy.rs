//! [`Lazy`]: a [`PerCpu`] that is made at its first use, so that what holds it can be made by a constant.
//!
//! # States
//! `at` is null until the first use, and from then on the address of slot 0's copy.
//!
//! # Invariants
//! 1. An `at` that is not null is what [`PerCpu::leak`] returned for the same types. It changes once, from null; the variable
//!    stays until the drop, which has the `Lazy` to itself.
//!
//! # Safety
//! 1. A [`PerCpu`] has the representation of the pointer that it holds, and so has `AtomicPtr`. So where `at` is not null
//!    its place can be read as a `PerCpu`.
#![expect(unsafe_code, reason = "a view of mapped areas")]

use super::index::Index;
use super::variable::PerCpu;
use super::word::Zeroed;
use core::fmt;
use core::marker::PhantomData;
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicPtr, Ordering};

/// A variable that is there from its first use on.
#[repr(transparent)]
pub(super) struct Lazy<T: Zeroed, I: Index> {
    at: AtomicPtr<T>,
    index: PhantomData<fn() -> I>,
}

impl<T: Zeroed, I: Index> Lazy<T, I> {
    /// Not made yet.
    pub(super) const fn new() -> Self {
        Self {
            at: AtomicPtr::new(ptr::null_mut()),
            index: PhantomData,
        }
    }

    /// The copy of slot 0, where it was made.
    #[inline(always)]
    pub(super) fn made(&self) -> Option<NonNull<T>> {
        // Acquire: pairs with the Release of `first`. What it leads to is mapped, and zero at first.
        NonNull::new(self.at.load(Ordering::Acquire))
    }

    /// The copy of slot 0. Where there is no address space left at the first use, it ends as `Box::new` does.
    #[inline(always)]
    pub(super) fn as_ptr(&self) -> *mut T {
        match self.made() {
            Some(at) => at.as_ptr(),
            None => self.first(),
        }
    }

    /// The variable, which is made where it was not.
    #[inline(always)]
    pub(super) fn get(&self) -> &PerCpu<T, I> {
        self.as_ptr();
        let made = ptr::from_ref(&self.at).cast::<PerCpu<T, I>>();
        // SAFETY: `as_ptr` has found `at` not null, so its place is one of a `PerCpu` (Safety 1), and nobody changes it while
        // `self` is borrowed (Invariant 1). By reference nobody can drop it.
        unsafe { &*made }
    }

    #[cold]
    #[inline(never)]
    fn first(&self) -> *mut T {
        let new = PerCpu::<T, I>::new().leak();
        // Release: pairs with the Acquire of `made`. Acquire on failure, for the same.
        match self
            .at
            .compare_exchange(ptr::null_mut(), new.as_ptr(), Ordering::Release, Ordering::Acquire)
        {
            Ok(_) => new.as_ptr(),
            Err(theirs) => {
                // SAFETY: `leak` returned it in this function, and nobody else has seen it.
                drop(unsafe { PerCpu::<T, I>::from_leaked(new) });
                theirs
            }
        }
    }
}

impl<T: Zeroed, I: Index> Drop for Lazy<T, I> {
    fn drop(&mut self) {
        if let Some(at) = NonNull::new(*self.at.get_mut()) {
            // SAFETY: a leaked variable (Invariant 1), which is borrowed by way of `self` alone, and that is being dropped.
            drop(unsafe { PerCpu::<T, I>::from_leaked(at) });
        }
    }
}

impl<T: Zeroed, I: Index> fmt::Debug for Lazy<T, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PerCpu").field(&self.made()).finish()
    }
}
