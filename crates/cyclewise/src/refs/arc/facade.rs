//! What the counts take from outside: the atomic they sit on, and what a waiting loop does between looks.
//!
//! Under `--cfg loom` both are loom's, so that its scheduler sees every access and every wait.

use core::sync::atomic::Ordering;

#[cfg(not(loom))]
pub(super) use crate::atomic::AtomicUsize;
#[cfg(not(loom))]
pub(super) use core::hint::spin_loop;
#[cfg(loom)]
pub(super) use loom::hint::spin_loop;
#[cfg(loom)]
pub(super) use loom::sync::atomic::AtomicUsize;

/// Adds one and says whether that left a negative number: one instruction that sets the flags, and a branch.
#[inline(always)]
pub(super) fn inc_negative(count: &AtomicUsize, order: Ordering) -> bool {
    #[cfg(not(loom))]
    return count.inc_negative(order);
    #[cfg(loom)]
    return count.fetch_add(1, order).wrapping_add(1).cast_signed() < 0;
}

/// Takes one and says whether that left a negative number: one instruction that sets the flags, and a branch.
#[inline(always)]
pub(super) fn dec_negative(count: &AtomicUsize, order: Ordering) -> bool {
    #[cfg(not(loom))]
    return count.dec_negative(order);
    #[cfg(loom)]
    return count.fetch_sub(1, order).wrapping_sub(1).cast_signed() < 0;
}
