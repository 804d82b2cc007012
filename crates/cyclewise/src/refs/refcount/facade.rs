//! What the counts take from outside: the atomics they sit on.
//!
//! Under `--cfg loom` these are loom's, so that its scheduler sees every access.

#[cfg(not(loom))]
pub(super) use crate::atomic::{AtomicU32, AtomicU64};
#[cfg(loom)]
pub(super) use loom::sync::atomic::{AtomicU32, AtomicU64};

/// The operations of ours that loom's atomics lack: flags of an instruction, as comparisons of its result.
#[cfg(loom)]
pub(super) trait Flags {
    fn inc_cmp(&self, order: core::sync::atomic::Ordering) -> core::cmp::Ordering;
    fn fetch_dec_cmp(&self, order: core::sync::atomic::Ordering) -> core::cmp::Ordering;
}

#[cfg(loom)]
macro_rules! flags {
    ($($atomic:ident),*) => { $(
        impl Flags for $atomic {
            fn inc_cmp(&self, order: core::sync::atomic::Ordering) -> core::cmp::Ordering {
                self.fetch_add(1, order).wrapping_add(1).cast_signed().cmp(&0)
            }
            fn fetch_dec_cmp(&self, order: core::sync::atomic::Ordering) -> core::cmp::Ordering {
                self.fetch_sub(1, order).cast_signed().cmp(&0)
            }
        }
    )* };
}
#[cfg(loom)]
flags!(AtomicU32, AtomicU64);
