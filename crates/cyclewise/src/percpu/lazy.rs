//! [`Lazy`]: a [`PerCpu`] that is allocated at its first use, so that its owner can be a constant.
//!
//! # States
//! `at` is null until the first use, and from then on the address of slot 0's copy.
//!
//! # Invariants
//! 1. If `at` is not null, [`PerCpu::leak`] returned it for the same types. It changes once, from null; the variable
//!    lives until the drop, which has exclusive access.
//!
//! # Safety
//! 1. A [`PerCpu`] has the representation of the pointer that it holds, as has `AtomicPtr`. So if `at` is not null,
//!    its memory can be read as a `PerCpu`.
#![expect(unsafe_code, reason = "a view of mapped areas")]

use super::index::Index;
use super::variable::PerCpu;
use super::word::Zeroed;
use crate::error::Refusal;
use core::fmt;
use core::marker::PhantomData;
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicPtr, Ordering};

/// A variable that is allocated at its first use.
#[repr(transparent)]
pub(super) struct Lazy<T: Zeroed, I: Index> {
    at: AtomicPtr<T>,
    index: PhantomData<fn() -> I>,
}

impl<T: Zeroed, I: Index> Lazy<T, I> {
    /// Not allocated.
    pub(super) const fn new() -> Self {
        Self {
            at: AtomicPtr::new(ptr::null_mut()),
            index: PhantomData,
        }
    }

    /// The copy of slot 0, if it is allocated.
    #[inline(always)]
    pub(super) fn allocated(&self) -> Option<NonNull<T>> {
        // Acquire: pairs with the Release of `share`; the memory is mapped and zero.
        NonNull::new(self.at.load(Ordering::Acquire))
    }

    /// Where the address of slot 0's copy is, once it is allocated.
    #[inline(always)]
    pub(super) fn place(&self) -> *const *mut T {
        self.at.as_ptr()
    }

    /// The copy of slot 0, allocated if necessary. Without address space, it calls the handler of allocation errors.
    #[inline(always)]
    pub(super) fn as_ptr(&self) -> *mut T {
        match self.allocated() {
            Some(at) => at.as_ptr(),
            None => self.allocate(),
        }
    }

    /// Allocates it, if it is not allocated.
    pub(super) fn try_allocate(&self) -> Result<(), Refusal> {
        if self.allocated().is_none() {
            self.share(PerCpu::try_new()?);
        }
        Ok(())
    }

    /// The variable, allocated if necessary.
    #[inline(always)]
    pub(super) fn get(&self) -> &PerCpu<T, I> {
        self.as_ptr();
        let variable = ptr::from_ref(&self.at).cast::<PerCpu<T, I>>();
        // SAFETY: `as_ptr` has found `at` not null, so its memory is a `PerCpu` (Safety 1) that does not change while
        // `self` is borrowed (Invariant 1), and that cannot be dropped through a reference.
        unsafe { &*variable }
    }

    #[cold]
    #[inline(never)]
    fn allocate(&self) -> *mut T {
        self.share(PerCpu::new())
    }

    /// Makes `new` the variable, unless there is one.
    fn share(&self, new: PerCpu<T, I>) -> *mut T {
        let new = new.leak();
        // Release: pairs with the Acquire of `allocated`. Acquire on failure, for the same.
        match self
            .at
            .compare_exchange(ptr::null_mut(), new.as_ptr(), Ordering::Release, Ordering::Acquire)
        {
            Ok(_) => new.as_ptr(),
            Err(theirs) => {
                // SAFETY: `leak` returned it in this function, and it was never shared.
                drop(unsafe { PerCpu::<T, I>::from_leaked(new) });
                theirs
            }
        }
    }
}

impl<T: Zeroed, I: Index> Drop for Lazy<T, I> {
    fn drop(&mut self) {
        if let Some(at) = NonNull::new(*self.at.get_mut()) {
            // SAFETY: a leaked variable (Invariant 1), which is borrowed only through `self`, and `self` is being dropped.
            drop(unsafe { PerCpu::<T, I>::from_leaked(at) });
        }
    }
}

impl<T: Zeroed, I: Index> fmt::Debug for Lazy<T, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PerCpu").field(&self.allocated()).finish()
    }
}
