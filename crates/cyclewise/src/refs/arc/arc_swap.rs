//! arc-swap: `Arc` and `Weak` in a place that threads load and swap. Feature `arc-swap`.
//!
//! ```
//! use arc_swap::ArcSwapAny;
//! use cyclewise::refs::Arc;
//!
//! let config = <ArcSwapAny<Arc<u32>>>::new(Arc::new(1));
//! config.store(Arc::new(2));
//! assert_eq!(**config.load(), 2);
//! ```
//!
//! # Safety
//! 1. Two pointers are equal only if they refer to one pair of counts. That pair ends where the pointer points, so memory of another
//!    allocation is never at both; this holds for values of size zero too.
//! 2. An `Arc` and a `Weak` of one allocation have one address and different counts: `TAG` tells them apart. Its bit is free,
//!    because the counts are words.
//! 3. A null pointer is a `Weak` without memory, and owns nothing.
#![expect(unsafe_code, reason = "references that are owed")]

use super::Arc;
use super::weak::Weak;
use ::arc_swap::RefCnt;
use core::ptr;

// SAFETY: Safety 1; no method panics but for the destructor of a value.
unsafe impl<T> RefCnt for Arc<T> {
    type Base = T;

    fn into_ptr(me: Self) -> *mut T {
        Self::into_raw(me).cast_mut()
    }

    fn as_ptr(me: &Self) -> *mut T {
        Self::as_ptr(me).cast_mut()
    }

    unsafe fn from_ptr(ptr: *const T) -> Self {
        // SAFETY: from `into_ptr`, and arc-swap owns or owes the unit.
        unsafe { Self::from_raw(ptr) }
    }
}

// SAFETY: Safety 1 to 3; no method panics.
unsafe impl<T> RefCnt for Weak<T> {
    type Base = T;

    const TAG: usize = 1;

    fn into_ptr(me: Self) -> *mut T {
        match me.counts() {
            Some(_) => me.into_raw().cast_mut(),
            None => ptr::null_mut(),
        }
    }

    fn as_ptr(me: &Self) -> *mut T {
        match me.counts() {
            Some(_) => me.as_ptr().cast_mut(),
            None => ptr::null_mut(),
        }
    }

    unsafe fn from_ptr(ptr: *const T) -> Self {
        if ptr.is_null() {
            return Self::new();
        }
        // SAFETY: from `into_ptr`, and arc-swap owns or owes the unit.
        unsafe { Self::from_raw(ptr) }
    }
}
