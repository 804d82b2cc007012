//! Conversions from other owners and from borrowed strings.
//!
//! # Safety
//! A value is moved by copying its bytes if the old memory is never read as a value again. A string's bytes may be
//! copied freely.
#![expect(unsafe_code, reason = "values moved by their bytes")]

use super::Arc;
use super::allocation;
use alloc::borrow::{Cow, ToOwned};
use alloc::boxed::Box;
use alloc::ffi::CString;
use alloc::string::String;
use alloc::vec::Vec;
use core::ffi::CStr;
use core::mem::ManuallyDrop;

impl<T> From<T> for Arc<T> {
    /// [`Arc::new`].
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: ?Sized> From<Box<T>> for Arc<T> {
    /// Moves the value to an allocation with counts, and frees the box's.
    ///
    /// ```
    /// use cyclewise::refs::Arc;
    /// use std::error::Error;
    ///
    /// let boxed: Box<dyn Error + Send + Sync> = "no such file".into();
    /// let shared: Arc<dyn Error + Send + Sync> = boxed.into();
    /// assert_eq!(shared.to_string(), "no such file");
    /// ```
    fn from(value: Box<T>) -> Self {
        let value = Box::into_raw(value) as *mut ManuallyDrop<T>;
        // SAFETY: from a box; as a ManuallyDrop, dropping it frees the memory and leaves the value alone.
        let value = unsafe { Box::from_raw(value) };
        let inside: &T = &value;
        // SAFETY: the value in the box is not used again.
        let moved = unsafe { allocation::copy(inside) };
        // SAFETY: new memory with the value in it; the count of 1 is for this Arc.
        unsafe { Self::from_value(moved) }
    }
}

/// A new Arc with the same bytes.
///
/// # Safety
/// The value's bytes may be copied freely, as a string's.
unsafe fn copied<T: ?Sized>(value: &T) -> Arc<T> {
    // SAFETY: the caller promises that the bytes may be copied freely.
    let copy = unsafe { allocation::copy(value) };
    // SAFETY: new memory with the value in it; the count of 1 is for this Arc.
    unsafe { Arc::from_value(copy) }
}

impl From<&str> for Arc<str> {
    fn from(value: &str) -> Self {
        // SAFETY: a string's bytes.
        unsafe { copied(value) }
    }
}

impl From<&CStr> for Arc<CStr> {
    fn from(value: &CStr) -> Self {
        // SAFETY: a string's bytes.
        unsafe { copied(value) }
    }
}

conversions! {
    &mut str => str: |value| Arc::from(&*value);
    &mut CStr => CStr: |value| Arc::from(&*value);
    CString => CStr: |value| Arc::from(&*value);
    String => str: |value| Arc::from(&*value);
}

impl<T: Clone> From<&mut [T]> for Arc<[T]> {
    fn from(values: &mut [T]) -> Self {
        Self::from(&*values)
    }
}

impl<T, const N: usize> From<[T; N]> for Arc<[T]> {
    /// Moves the values.
    fn from(values: [T; N]) -> Self {
        Arc::unsize(Arc::new(values), |values| values)
    }
}

impl<'a, B> From<Cow<'a, B>> for Arc<B>
where
    B: ToOwned + ?Sized,
    Self: From<&'a B> + From<B::Owned>,
{
    fn from(value: Cow<'a, B>) -> Self {
        match value {
            Cow::Borrowed(value) => Self::from(value),
            Cow::Owned(value) => Self::from(value),
        }
    }
}

impl<T> FromIterator<T> for Arc<[T]> {
    /// Collects into a `Vec` and moves the values from there: two allocations, even if the length is known.
    ///
    /// # Panics
    /// If the iterator panics; the values so far are dropped.
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Self::from(values.into_iter().collect::<Vec<_>>())
    }
}
