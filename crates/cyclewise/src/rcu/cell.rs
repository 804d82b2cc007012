//! A pointer that readers load and writers replace.
//!
//! # Safety
//! 1. The address is what `into_raw` returned. Whoever takes it out by an exchange owns the value, and drops it after a grace period.
//! 2. Sections that load the value borrow the cell, so none is open where the cell is owned or borrowed mutably.
#![expect(unsafe_code, reason = "a value by its address, in a section that keeps it")]

use super::domain::{Domain, DomainGuard};
use super::global;
use super::guard::{self, Guard};
use core::fmt;
use core::marker::PhantomData;
use core::sync::atomic::AtomicPtr;
use core::sync::atomic::Ordering::{AcqRel, Acquire};
use std::boxed::Box;

/// How an [`Rcu`] owns its value: by a `Box` or a `refs::Arc`.
pub trait Pointer<T>: sealed::Sealed + Send + 'static {
    #[doc(hidden)]
    fn into_raw(self) -> *mut T;
    /// # Safety
    /// What `into_raw` returned, once.
    #[doc(hidden)]
    unsafe fn from_raw(raw: *mut T) -> Self;
}

/// Whose sections protect an [`Rcu`]: [`Global`], or a [`Domain`] by reference.
pub trait Scope: sealed::Sealed {
    /// The section.
    type Guard<'g>;
    #[doc(hidden)]
    fn read(&self) -> Self::Guard<'_>;
    #[doc(hidden)]
    fn check(&self, guard: &Self::Guard<'_>);
    #[doc(hidden)]
    fn drop_later(&self, value: impl Send + 'static);
}

pub(super) mod sealed {
    pub trait Sealed {}
    impl<T> Sealed for std::boxed::Box<T> {}
    impl Sealed for super::Global {}
    impl Sealed for &super::Domain {}
}

impl<T: Send + 'static> Pointer<T> for Box<T> {
    fn into_raw(self) -> *mut T {
        Self::into_raw(self)
    }

    unsafe fn from_raw(raw: *mut T) -> Self {
        // SAFETY: the caller's promise.
        unsafe { Self::from_raw(raw) }
    }
}

/// All threads' sections: those of [`read`](super::read).
#[derive(Clone, Copy, Debug, Default)]
pub struct Global;

impl Scope for Global {
    type Guard<'g> = Guard;

    #[inline]
    fn read(&self) -> Guard {
        guard::read()
    }

    #[inline(always)]
    fn check(&self, _: &Guard) {}

    fn drop_later(&self, value: impl Send + 'static) {
        global::drop_later(value);
    }
}

impl<'d> Scope for &'d Domain {
    type Guard<'g> = DomainGuard<'d>;

    fn read(&self) -> DomainGuard<'d> {
        Domain::read(self)
    }

    #[inline]
    fn check(&self, guard: &DomainGuard<'_>) {
        assert!(core::ptr::eq(*self, guard.domain), "rcu: a guard of another domain");
    }

    fn drop_later(&self, value: impl Send + 'static) {
        Domain::drop_later(self, value);
    }
}

/// A value that readers load by one load, and writers replace; what was replaced is dropped after a grace period.
///
/// # Examples
/// ```
/// use cyclewise::rcu::{self, Rcu};
///
/// let limit = Rcu::new(10);
/// limit.update(|old| Box::new(old + 1));
/// assert_eq!(*limit.load(&rcu::read()), 11);
/// ```
pub struct Rcu<T, P: Pointer<T> = Box<T>, S: Scope = Global> {
    at: AtomicPtr<T>,
    scope: S,
    owns: PhantomData<P>,
}

// SAFETY: a value in a box is sent with it.
unsafe impl<T: Send, P: Pointer<T>, S: Scope + Send> Send for Rcu<T, P, S> {}
// SAFETY: readers share the value, and any thread may drop it.
unsafe impl<T: Send + Sync, P: Pointer<T>, S: Scope + Sync> Sync for Rcu<T, P, S> {}

impl<T: Send + 'static> Rcu<T> {
    /// A value on the heap, protected by all threads' sections.
    pub fn new(value: T) -> Self {
        Self::from_pointer(Box::new(value))
    }
}

impl<T, P: Pointer<T>> Rcu<T, P> {
    /// A value that is on the heap, protected by all threads' sections.
    pub fn from_pointer(value: P) -> Self {
        Self::from_pointer_in(Global, value)
    }
}

impl<'d, T: Send + 'static> Rcu<T, Box<T>, &'d Domain> {
    /// A value on the heap, protected by this domain's sections.
    pub fn new_in(domain: &'d Domain, value: T) -> Self {
        Self::from_pointer_in(domain, Box::new(value))
    }
}

impl<T, P: Pointer<T>, S: Scope> Rcu<T, P, S> {
    /// A value that is on the heap, protected by these sections.
    pub fn from_pointer_in(scope: S, value: P) -> Self {
        Self {
            at: AtomicPtr::new(value.into_raw()),
            scope,
            owns: PhantomData,
        }
    }

    /// The value now, valid as long as the section.
    ///
    /// # Panics
    /// With a guard of another domain.
    #[inline(always)]
    #[doc(alias = "rcu_dereference")]
    pub fn load<'g>(&'g self, guard: &'g S::Guard<'_>) -> &'g T {
        self.scope.check(guard);
        // Acquire: pairs with the AcqRel of `swap` and `update`.
        let at = self.at.load(Acquire);
        // SAFETY: the value that the pointer had in this section is not dropped before the section ends.
        unsafe { &*at }
    }

    /// Replaces the value. The old one is dropped after a grace period.
    #[doc(alias = "rcu_assign_pointer")]
    pub fn replace(&self, value: impl Into<P>) {
        // AcqRel: pairs with the Acquire of `load`, and with the last writer's Release.
        let old = self.at.swap(value.into().into_raw(), AcqRel);
        self.retire(old);
    }

    /// Replaces the value by what `change` makes of it. `change` is called again where another writer was faster, and its earlier result
    /// is dropped.
    pub fn update(&self, mut change: impl FnMut(&T) -> P) {
        // In a section, so that the old value is not freed and its address not used again before the exchange.
        let guard = self.scope.read();
        let mut old = self.at.load(Acquire);
        loop {
            // SAFETY: loaded in this section.
            let new = change(unsafe { &*old }).into_raw();
            // AcqRel, Acquire: as in `replace` and `load`.
            match self.at.compare_exchange(old, new, AcqRel, Acquire) {
                Ok(_) => break,
                Err(now) => {
                    old = now;
                    // SAFETY: what `into_raw` returned, and nobody has seen it.
                    drop(unsafe { P::from_raw(new) });
                }
            }
        }
        drop(guard);
        self.retire(old);
    }

    fn retire(&self, old: *mut T) {
        // SAFETY: what `into_raw` returned; the exchange took it out, so this happens once.
        let old = unsafe { P::from_raw(old) };
        self.scope.drop_later(old);
    }

    /// The value, by its pointer.
    pub fn into_inner(self) -> P {
        let mut this = core::mem::ManuallyDrop::new(self);
        // SAFETY: what `into_raw` returned; nobody reads, since sections that load it borrow `self`.
        unsafe { P::from_raw(*this.at.get_mut()) }
    }

    /// The value, which nobody reads.
    pub fn get_mut(&mut self) -> &mut T
    where
        P: core::ops::DerefMut<Target = T>,
    {
        // SAFETY: owned alone by the pointer inside, which is owned alone by `self`.
        unsafe { &mut **self.at.get_mut() }
    }
}

impl<T, P: Pointer<T>, S: Scope> Drop for Rcu<T, P, S> {
    fn drop(&mut self) {
        // SAFETY: what `into_raw` returned; nobody reads, since sections that load it borrow `self`.
        drop(unsafe { P::from_raw(*self.at.get_mut()) });
    }
}

impl<T: fmt::Debug, P: Pointer<T>, S: Scope> fmt::Debug for Rcu<T, P, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let guard = self.scope.read();
        f.debug_tuple("Rcu").field(self.load(&guard)).finish()
    }
}
