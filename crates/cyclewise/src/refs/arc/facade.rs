//! What the counts take from outside: the atomic they sit on.
//!
//! Under `--cfg loom` it is loom's, so that its scheduler sees every access.
//!
//! # Safety
//! What is asked of a caller is passed on to where the instruction is.
#![expect(unsafe_code, reason = "a count by its distance from the value")]

use core::sync::atomic::Ordering;

#[cfg(not(loom))]
pub(super) use crate::atomic::AtomicUsize;
#[cfg(loom)]
pub(super) use loom::sync::atomic::AtomicUsize;

/// Adds one to the count at `base + D` and says whether that left a negative number: one instruction that sets the flags,
/// and a branch.
///
/// # Safety
/// There is an [`AtomicUsize`] at `base + D`, in the same allocation, and it stays there meanwhile.
#[inline(always)]
pub(super) unsafe fn inc_negative_at<const D: isize>(base: *const u8, order: Ordering) -> bool {
    #[cfg(not(loom))]
    // SAFETY: the caller promises an atomic there, which is what is asked for.
    return unsafe { crate::atomic::inc_negative_at::<D>(base, order) };
    #[cfg(loom)]
    // SAFETY: the caller promises an atomic there.
    return unsafe { at::<D>(base) }
        .fetch_add(1, order)
        .wrapping_add(1)
        .cast_signed()
        < 0;
}

/// Takes one and says whether that left a negative number: one instruction that sets the flags, and a branch.
///
/// # Safety
/// As [`inc_negative_at`].
#[inline(always)]
pub(super) unsafe fn dec_negative_at<const D: isize>(base: *const u8, order: Ordering) -> bool {
    #[cfg(not(loom))]
    // SAFETY: the caller promises an atomic there, which is what is asked for.
    return unsafe { crate::atomic::dec_negative_at::<D>(base, order) };
    #[cfg(loom)]
    // SAFETY: the caller promises an atomic there.
    return unsafe { at::<D>(base) }
        .fetch_sub(1, order)
        .wrapping_sub(1)
        .cast_signed()
        < 0;
}

/// # Safety
/// As [`inc_negative_at`].
#[cfg(loom)]
unsafe fn at<'a, const D: isize>(base: *const u8) -> &'a AtomicUsize {
    // SAFETY: the caller promises that it is in the same allocation.
    let word = unsafe { base.offset(D) };
    // SAFETY: the caller promises an atomic there, for as long as it is used.
    unsafe { &*word.cast::<AtomicUsize>() }
}
