//! Conversions to and from raw pointers: for C, for tagged pointers, and for what the types cannot express.
//!
//! A raw pointer is the address of the value and also gives access to the counts before it: it derives from the
//! allocation and never from a reference to the value.
//!
//! # Safety
//! A pointer from `into_raw` owns the unit of the count that the `Arc` or `Weak` owned, once.
#![expect(unsafe_code, reason = "ownership by raw pointer")]

use super::Arc;
use super::weak::Weak;
use core::mem::ManuallyDrop;
use core::ptr::NonNull;

impl<T: ?Sized> Arc<T> {
    /// Turns the `Arc` into a raw pointer. The reference stays counted until [`Arc::from_raw`].
    #[must_use = "without `from_raw` the value leaks"]
    pub fn into_raw(this: Self) -> *const T {
        ManuallyDrop::new(this).value.as_ptr()
    }

    /// The address of the value, valid while a strong reference exists.
    #[must_use]
    pub fn as_ptr(this: &Self) -> *const T {
        this.value.as_ptr()
    }

    /// Makes an `Arc` from a pointer of [`Arc::into_raw`], with its reference.
    ///
    /// # Safety
    /// `pointer` is from `Arc::into_raw` of this `T`, or of a type of the same value with the same size and alignment
    /// (a coercion to a slice or trait object, a transparent wrapper). Each such pointer is used once.
    pub unsafe fn from_raw(pointer: *const T) -> Self {
        // SAFETY: from an Arc, so not null.
        let value = unsafe { NonNull::new_unchecked(pointer.cast_mut()) };
        // SAFETY: the unit of the Arc that `pointer` came from.
        unsafe { Self::from_value(value) }
    }

    /// Adds a reference: `clone` for a raw pointer. Orders nothing (Relaxed).
    ///
    /// # Safety
    /// As [`Arc::from_raw`], but the pointer keeps its reference, which exists until this returns.
    pub unsafe fn increment_strong_count(pointer: *const T) {
        // SAFETY: the contract is the same; the reference is not given up.
        let this = ManuallyDrop::new(unsafe { Self::from_raw(pointer) });
        this.counts().strong.inc();
    }

    /// Gives up a reference: `drop` for a raw pointer. Release, and Acquire for the last one.
    ///
    /// # Safety
    /// As [`Arc::from_raw`].
    pub unsafe fn decrement_strong_count(pointer: *const T) {
        // SAFETY: the contract is the same.
        drop(unsafe { Self::from_raw(pointer) });
    }
}

impl<T: ?Sized> Weak<T> {
    /// Turns the `Weak` into a raw pointer. The reference stays counted until [`Weak::from_raw`].
    #[must_use = "without `from_raw` the memory leaks"]
    pub fn into_raw(self) -> *const T {
        ManuallyDrop::new(self).value.as_ptr()
    }

    /// The address of the value, which may be destroyed. A `Weak` without memory has an address where there is none.
    #[must_use]
    pub fn as_ptr(&self) -> *const T {
        self.value.as_ptr()
    }

    /// Makes a `Weak` from a pointer of [`Weak::into_raw`], with its reference.
    ///
    /// Between the two the pointer may be coerced; [`Weak::unsize`] does that without `unsafe`:
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
    /// `pointer` is from `Weak::into_raw` of this `T`, or of a type of the same value with the same size and alignment.
    /// Each such pointer is used once.
    pub unsafe fn from_raw(pointer: *const T) -> Self {
        // SAFETY: from a Weak, so not null, with or without memory.
        let value = unsafe { NonNull::new_unchecked(pointer.cast_mut()) };
        // SAFETY: the unit of the Weak that `pointer` came from.
        unsafe { Self::from_value(value) }
    }
}
