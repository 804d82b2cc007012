//! What a LockRef takes from outside: its atomics, which under `--cfg loom` are loom's.

use core::sync::atomic::Ordering;

#[cfg(not(loom))]
pub(super) use crate::atomic::{AtomicU32, AtomicU64};
#[cfg(loom)]
pub(super) use loom::sync::atomic::{AtomicU32, AtomicU64};

/// A function that is `const` but for loom, whose atomics are made at run time.
macro_rules! constructor {
    ($(#[$attribute:meta])* $visibility:vis fn $($rest:tt)*) => {
        #[cfg(not(loom))]
        $(#[$attribute])* $visibility const fn $($rest)*
        #[cfg(loom)]
        $(#[$attribute])* $visibility fn $($rest)*
    };
}
pub(super) use constructor;

/// Adds, wrapping, where the sum is not wanted: one instruction that is a site.
#[inline(always)]
pub(super) fn add(word: &AtomicU64, value: u64, order: Ordering) {
    #[cfg(not(loom))]
    word.add(value, order);
    #[cfg(loom)]
    word.fetch_add(value, order);
}

/// Stores `new` where `current` is found, and says whether it was.
#[inline(always)]
pub(super) fn exchange_if(word: &AtomicU64, current: u64, new: u64, order: Ordering) -> bool {
    // Relaxed on failure: nothing is done then.
    #[cfg(not(loom))]
    return word.exchange_if(current, new, order, Ordering::Relaxed);
    #[cfg(loom)]
    return word.compare_exchange(current, new, order, Ordering::Relaxed).is_ok();
}
