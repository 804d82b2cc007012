//! An unchecked counter: the kernel's `atomic_t`, used as a reference count.
//!
//! It wraps. It is the baseline for the cost of the checks, and the library's tests require that it fails them.
#![allow(dead_code, reason = "the library's tests use the operations that are not measured")]

use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use cyclewise::atomic::{AtomicU32, AtomicU64};

macro_rules! unchecked {
    ($($(#[$doc:meta])* $name:ident: $value:ident, $atomic:ident;)*) => { $(
        $(#[$doc])*
        #[repr(transparent)]
        pub(crate) struct $name($atomic);

        impl $name {
            #[must_use]
            pub(crate) const fn new(references: $value) -> Self {
                Self($atomic::new(references))
            }

            /// `atomic_set`.
            #[inline]
            pub(crate) fn set(&self, references: $value) {
                // Relaxed: there is no other user to order.
                self.0.store(references, Relaxed);
            }

            /// `atomic_read`.
            #[inline]
            pub(crate) fn read(&self) -> $value {
                // Relaxed: orders nothing.
                self.0.load(Relaxed)
            }

            /// `atomic_inc`.
            #[inline]
            pub(crate) fn inc(&self) {
                // Relaxed: the caller already holds a reference.
                self.0.inc(Relaxed);
            }

            /// `atomic_add`.
            #[inline]
            pub(crate) fn add(&self, n: $value) {
                // Relaxed: as `inc`.
                self.0.add(n, Relaxed);
            }

            /// `atomic_inc_not_zero`.
            #[inline]
            pub(crate) fn inc_not_zero(&self) -> bool {
                self.add_not_zero(1)
            }

            /// `atomic_add_unless(.., 0)`.
            #[inline]
            pub(crate) fn add_not_zero(&self, n: $value) -> bool {
                let add = |count: $value| (count != 0).then(|| count.wrapping_add(n));
                // Relaxed: as `inc`.
                self.0.try_update(Relaxed, Relaxed, add).is_ok()
            }

            /// `atomic_dec`.
            #[inline]
            pub(crate) fn dec(&self) {
                // Release: pairs with the Acquire in `dec_and_test`.
                self.0.dec(Release);
            }

            /// `atomic_dec_and_test`.
            #[inline]
            pub(crate) fn dec_and_test(&self) -> bool {
                // Release: pairs with the Acquire below.
                let last = self.0.dec_and_test(Release);
                if last {
                    // Acquire: pairs with the Release of the decrements.
                    let _ = self.0.load(Acquire);
                }
                last
            }

            /// `atomic_sub_and_test`.
            #[inline]
            pub(crate) fn sub_and_test(&self, n: $value) -> bool {
                // AcqRel: pairs with itself.
                self.0.sub_and_test(n, AcqRel)
            }
        }
    )* };
}

unchecked! {
    /// 32 bits, unchecked.
    Unchecked: u32, AtomicU32;
    /// 64 bits, unchecked.
    Unchecked64: u64, AtomicU64;
}
