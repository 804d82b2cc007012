//! Raw pointers in and out: for C, for tagged pointers, and for what the types cannot say.
//!
//! A raw pointer is the address of the value, and may be used for the counts before it as well: it is made from the
//! allocation and never from a reference to the value.
//!
//! # Safety
//! Who has a pointer from `into_raw` has the unit of the count that the `Arc` or `Weak` had, once.
#![expect(unsafe_code, reason = "ownership by raw pointer")]

use super::Arc;
use super::weak::Weak;
use core::mem::ManuallyDrop;
use core::ptr::NonNull;

impl<T: ?Sized> Arc<T> {
    /// Gives up the `Arc` and not its reference: [`Arc::from_raw`] takes that up again.
    #[must_use = "without from_raw the reference is never given up"]
    pub fn into_raw(this: Self) -> *const T {
        ManuallyDrop::new(this).value.as_ptr()
    }

    /// The address of the value. Valid while a strong reference exists.
    #[must_use]
    pub fn as_ptr(this: &Self) -> *const T {
        this.value.as_ptr()
    }

    /// Takes up the reference that [`Arc::into_raw`] left with the pointer.
    ///
    /// # Safety
    /// `pointer` is from `Arc::into_raw` of this `T`, or of another one that the value has as well (a slice's or trait
    /// object's coercion, a transparent wrapper) with the same size and alignment. It is used so once.
    pub unsafe fn from_raw(pointer: *const T) -> Self {
        // SAFETY: from an Arc, so not null.
        let value = unsafe { NonNull::new_unchecked(pointer.cast_mut()) };
        // SAFETY: the unit of the Arc that `pointer` came from.
        unsafe { Self::from_value(value) }
    }

    /// Counts one more reference: a `clone` that stays a raw pointer. Orders nothing (Relaxed).
    ///
    /// # Safety
    /// As [`Arc::from_raw`], but the reference is kept, and exists until this returns.
    pub unsafe fn increment_strong_count(pointer: *const T) {
        // SAFETY: the contract is the same; the reference is not given up.
        let this = ManuallyDrop::new(unsafe { Self::from_raw(pointer) });
        this.counts().strong.inc();
    }

    /// Gives up one reference: the `drop` of a raw pointer. Release, and Acquire for the last one.
    ///
    /// # Safety
    /// As [`Arc::from_raw`].
    pub unsafe fn decrement_strong_count(pointer: *const T) {
        // SAFETY: the contract is the same.
        drop(unsafe { Self::from_raw(pointer) });
    }
}

impl<T: ?Sized> Weak<T> {
    /// Gives up the `Weak` and not its reference: [`Weak::from_raw`] takes that up again.
    #[must_use = "without from_raw the memory is never given up"]
    pub fn into_raw(self) -> *const T {
        ManuallyDrop::new(self).value.as_ptr()
    }

    /// The address of the value, if there is one: it may be destroyed already, and a `Weak` without memory has an
    /// address at which nothing is.
    #[must_use]
    pub fn as_ptr(&self) -> *const T {
        self.value.as_ptr()
    }

    /// Takes up the reference that [`Weak::into_raw`] left with the pointer.
    ///
    /// Between the two the pointer may be coerced, which is what [`Weak::unsize`] does without `unsafe`:
    ///
    /// ```
    /// use cyclewise::refs::Weak;
    /// use std::fmt::Debug;
    ///
    /// let raw: *const dyn Debug = Weak::<u32>::new().into_raw();
    /// // SAFETY: from `into_raw`, coerced and nothing else.
    /// let weak: Weak<dyn Debug> = unsafe { Weak::from_raw(raw) };
    /// assert!(weak.upgrade().is_none());
    /// ```
    ///
    /// # Safety
    /// `pointer` is from `Weak::into_raw` of this `T`, or of another one that the value has as well, with the same size
    /// and alignment. It is used so once.
    pub unsafe fn from_raw(pointer: *const T) -> Self {
        // SAFETY: from a Weak, so not null, whether there is memory or not.
        let value = unsafe { NonNull::new_unchecked(pointer.cast_mut()) };
        // SAFETY: the unit of the Weak that `pointer` came from.
        unsafe { Self::from_value(value) }
    }
}
