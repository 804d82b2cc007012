//! What the counts take from outside: the atomics they sit on.
//!
//! Under `--cfg loom` these are loom's, so that its scheduler sees every access.

#[cfg(not(loom))]
pub(in crate::refs) use crate::atomic::{AtomicU32, AtomicU64};
#[cfg(loom)]
pub(in crate::refs) use loom::sync::atomic::{AtomicU32, AtomicU64};

/// The operations of ours that loom's atomics lack: flags of an instruction, as comparisons of its result.
#[cfg(loom)]
pub(in crate::refs) trait Flags {
    fn fetch_inc_cmp(&self, order: core::sync::atomic::Ordering) -> core::cmp::Ordering;
    fn dec_cmp(&self, order: core::sync::atomic::Ordering) -> core::cmp::Ordering;
    fn inc_negative(&self, order: core::sync::atomic::Ordering) -> bool;
}

#[cfg(loom)]
macro_rules! flags {
    ($($atomic:ident),*) => { $(
        impl Flags for $atomic {
            fn fetch_inc_cmp(&self, order: core::sync::atomic::Ordering) -> core::cmp::Ordering {
                self.fetch_add(1, order).cast_signed().cmp(&-1)
            }
            fn dec_cmp(&self, order: core::sync::atomic::Ordering) -> core::cmp::Ordering {
                self.fetch_sub(1, order).wrapping_sub(1).cast_signed().cmp(&-1)
            }
            fn inc_negative(&self, order: core::sync::atomic::Ordering) -> bool {
                self.fetch_add(1, order).wrapping_add(1).cast_signed() < 0
            }
        }
    )* };
}
#[cfg(loom)]
flags!(AtomicU32, AtomicU64);
