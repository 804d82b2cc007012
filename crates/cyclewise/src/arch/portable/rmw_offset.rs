//! The asm-free twin: the compiler folds the distance where it can.
//!
//! # Safety
//! 1. The word at `base + D` is an atomic as long as the call lasts, says the caller.
#![expect(unsafe_code, reason = "an atomic by address")]

use crate::arch::Rmw;
use core::sync::atomic::{AtomicUsize, Ordering};

/// Adds one; true where the result is negative.
///
/// # Safety
/// There is an `AtomicUsize` at `base + D`, in the same allocation, and it stays there meanwhile.
#[inline(always)]
pub(crate) unsafe fn inc_negative_at<const D: isize>(base: *const u8, order: Ordering) -> bool {
    // SAFETY: the caller says that the word is there (Invariant 1).
    unsafe { at::<D>(base) }.inc_negative(order)
}

/// Subtracts one; true where the result is negative.
///
/// # Safety
/// There is an `AtomicUsize` at `base + D`, in the same allocation, and it stays there meanwhile.
#[inline(always)]
pub(crate) unsafe fn dec_negative_at<const D: isize>(base: *const u8, order: Ordering) -> bool {
    // SAFETY: the caller says that the word is there (Invariant 1).
    unsafe { at::<D>(base) }.dec_negative(order)
}

/// # Safety
/// As [`inc_negative_at`].
#[inline(always)]
unsafe fn at<'a, const D: isize>(base: *const u8) -> &'a AtomicUsize {
    // SAFETY: in the same allocation (Invariant 1).
    let word = unsafe { base.offset(D) };
    // SAFETY: an atomic that stays there for the call, says the caller (Invariant 1).
    unsafe { &*word.cast::<AtomicUsize>() }
}
