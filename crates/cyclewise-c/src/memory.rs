//! Memory for the objects that C programs make, null where there is none; and the places that they give for results.
//!
//! # Safety
//! 1. The allocator returns null or memory of the layout that it was asked for.
#![expect(
    unsafe_code,
    reason = "an allocation that may fail, and writes to where the caller says"
)]

use core::ptr;
use std::alloc::{Layout, alloc};
use std::boxed::Box;

/// The value in memory of its own, which `Box::from_raw` frees; null without memory, and the value is dropped.
pub(crate) fn boxed<T>(value: T) -> *mut T {
    const { assert!(size_of::<T>() > 0) };
    // SAFETY: not of size 0.
    let memory = unsafe { alloc(Layout::new::<T>()) }.cast::<T>();
    if memory.is_null() {
        return ptr::null_mut();
    }
    // SAFETY: new memory for a `T` (Safety 1).
    unsafe { memory.write(value) };
    memory
}

/// Drops what [`boxed`] made.
///
/// # Safety
/// Null, or what `boxed` returned, which nobody else uses.
pub(crate) unsafe fn free<T>(value: *mut T) {
    if !value.is_null() {
        // SAFETY: made with the allocator and the layout of a box.
        drop(unsafe { Box::from_raw(value) });
    }
}

/// Writes a result to where the caller wants it; null if it does not. So do all functions that have more than one result.
///
/// # Safety
/// `place` is null or may be written to.
#[inline(always)]
pub(crate) unsafe fn give<T>(place: *mut T, value: T) {
    if !place.is_null() {
        // SAFETY: not null, so the caller lets us write to it.
        unsafe { place.write(value) };
    }
}
