//! A raw pointer.
//!
//! # Safety
//! `from_ptr` has std's contract: its caller vouches for the pointer.
#![expect(unsafe_code, reason = "from_ptr, as std has it")]

use super::common::{by_exchange, common};
use crate::arch::Exchange;
use core::fmt;
use core::sync::atomic::{self, Ordering};

/// std's `AtomicPtr`, with patchable LOCK prefixes. Provenance is kept.
///
/// # Examples
/// ```
/// use cyclewise::atomic::{AtomicPtr, Ordering};
///
/// let (mut old, mut new) = (1, 2);
/// let current = AtomicPtr::new(&raw mut old);
/// let replaced = current.swap(&mut new, Ordering::AcqRel);
/// assert_eq!(replaced, &raw mut old);
/// ```
#[repr(transparent)]
pub struct AtomicPtr<T>(atomic::AtomicPtr<T>);

impl<T> AtomicPtr<T> {
    common!(AtomicPtr, *mut T);

    /// Moves forward by `count` values, wrapping, and returns the old value: a CMPXCHG loop.
    #[inline]
    pub fn fetch_ptr_add(&self, count: usize, order: Ordering) -> *mut T {
        by_exchange!(self, order, old => old.wrapping_add(count))
    }

    /// Moves back by `count` values, wrapping, and returns the old value: a CMPXCHG loop.
    #[inline]
    pub fn fetch_ptr_sub(&self, count: usize, order: Ordering) -> *mut T {
        by_exchange!(self, order, old => old.wrapping_sub(count))
    }

    /// Moves forward by `count` bytes, wrapping, and returns the old value: a CMPXCHG loop.
    #[inline]
    pub fn fetch_byte_add(&self, count: usize, order: Ordering) -> *mut T {
        by_exchange!(self, order, old => old.wrapping_byte_add(count))
    }

    /// Moves back by `count` bytes, wrapping, and returns the old value: a CMPXCHG loop.
    #[inline]
    pub fn fetch_byte_sub(&self, count: usize, order: Ordering) -> *mut T {
        by_exchange!(self, order, old => old.wrapping_byte_sub(count))
    }

    /// Ands the address, and returns the old value: a CMPXCHG loop.
    #[inline]
    pub fn fetch_and(&self, bits: usize, order: Ordering) -> *mut T {
        by_exchange!(self, order, old => old.map_addr(|address| address & bits))
    }

    /// Ors the address, and returns the old value: a CMPXCHG loop.
    #[inline]
    pub fn fetch_or(&self, bits: usize, order: Ordering) -> *mut T {
        by_exchange!(self, order, old => old.map_addr(|address| address | bits))
    }

    /// Exclusive-ors the address, and returns the old value: a CMPXCHG loop.
    #[inline]
    pub fn fetch_xor(&self, bits: usize, order: Ordering) -> *mut T {
        by_exchange!(self, order, old => old.map_addr(|address| address ^ bits))
    }
}

impl<T> Default for AtomicPtr<T> {
    fn default() -> Self {
        Self::new(core::ptr::null_mut())
    }
}

impl<T> From<*mut T> for AtomicPtr<T> {
    fn from(value: *mut T) -> Self {
        Self::new(value)
    }
}

impl<T> fmt::Debug for AtomicPtr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl<T> fmt::Pointer for AtomicPtr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Pointer::fmt(&self.0, f)
    }
}
