//! The counterpart without assembly: the compiler folds the offset where it can.
//!
//! # Safety
//! 1. The caller guarantees that the word at `base + D` is an atomic, valid during the call.
#![expect(unsafe_code, reason = "an atomic by address")]

use crate::arch::Rmw;
use core::sync::atomic::{AtomicUsize, Ordering};

/// Adds one; true where the result is negative.
///
/// # Safety
/// There is an `AtomicUsize` at `base + D`, in the same allocation, valid during the call.
#[inline(always)]
pub(crate) unsafe fn inc_negative_at<const D: isize>(base: *const u8, order: Ordering) -> bool {
    // SAFETY: the caller guarantees the word (Invariant 1).
    unsafe { at::<D>(base) }.inc_negative(order)
}

/// Subtracts one; true where the result is negative.
///
/// # Safety
/// There is an `AtomicUsize` at `base + D`, in the same allocation, valid during the call.
#[inline(always)]
pub(crate) unsafe fn dec_negative_at<const D: isize>(base: *const u8, order: Ordering) -> bool {
    // SAFETY: the caller guarantees the word (Invariant 1).
    unsafe { at::<D>(base) }.dec_negative(order)
}

/// # Safety
/// As [`inc_negative_at`].
#[inline(always)]
unsafe fn at<'a, const D: isize>(base: *const u8) -> &'a AtomicUsize {
    // SAFETY: in the same allocation (Invariant 1).
    let word = unsafe { base.offset(D) };
    // SAFETY: the caller guarantees an atomic that is valid during the call (Invariant 1).
    unsafe { &*word.cast::<AtomicUsize>() }
}
