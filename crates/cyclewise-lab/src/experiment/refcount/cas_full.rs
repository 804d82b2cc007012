//! The kernel's `REFCOUNT_FULL` of 2017 to 2019: every operation is a loop of load, check and compare-and-exchange.
//!
//! It is exact: a count that would wrap saturates at the largest number, and one that would underflow does not change.
//! Its retries grow with contention. Unlike the kernel's it reports no misuse, because only the loops are compared.
//!
//! # References
//! Linux 5.1, `lib/refcount.c`.
#![allow(dead_code, reason = "the library's tests use the operations that are not measured")]

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use cyclewise::atomic::{AtomicU32, AtomicU64};

macro_rules! cas_full {
    ($($(#[$doc:meta])* $name:ident: $value:ident, $atomic:ident;)*) => { $(
        $(#[$doc])*
        #[repr(transparent)]
        pub(crate) struct $name($atomic);

        impl $name {
            pub(crate) const SATURATED: $value = $value::MAX;

            #[must_use]
            pub(crate) const fn new(references: $value) -> Self {
                Self($atomic::new(references))
            }

            /// `refcount_set`.
            #[inline]
            pub(crate) fn set(&self, references: $value) {
                // Relaxed: there is no other user to order.
                self.0.store(references, Relaxed);
            }

            /// `refcount_read`.
            #[inline]
            pub(crate) fn read(&self) -> $value {
                // Relaxed: orders nothing.
                self.0.load(Relaxed)
            }

            /// `refcount_inc_checked`.
            #[inline]
            pub(crate) fn inc(&self) {
                let _ = self.add_not_zero(1);
            }

            /// `refcount_add_checked`.
            #[inline]
            pub(crate) fn add(&self, n: $value) {
                let _ = self.add_not_zero(n);
            }

            /// `refcount_inc_not_zero_checked`.
            #[inline]
            pub(crate) fn inc_not_zero(&self) -> bool {
                self.add_not_zero(1)
            }

            /// `refcount_add_not_zero_checked`.
            #[inline]
            pub(crate) fn add_not_zero(&self, n: $value) -> bool {
                // Relaxed: the exchange checks it.
                let mut count = self.0.load(Relaxed);
                loop {
                    if count == 0 {
                        return false;
                    }
                    if count == Self::SATURATED {
                        return true;
                    }
                    // Relaxed: the caller already holds a reference.
                    match self.0.compare_exchange_weak(count, count.saturating_add(n), Relaxed, Relaxed) {
                        Ok(_) => return true,
                        Err(now) => count = now,
                    }
                }
            }

            /// `refcount_dec_checked`.
            #[inline]
            pub(crate) fn dec(&self) {
                let _ = self.sub_and_test(1);
            }

            /// `refcount_dec_and_test_checked`.
            #[inline]
            pub(crate) fn dec_and_test(&self) -> bool {
                self.sub_and_test(1)
            }

            /// `refcount_sub_and_test_checked`.
            #[inline]
            pub(crate) fn sub_and_test(&self, n: $value) -> bool {
                // Relaxed: the exchange checks it.
                let mut count = self.0.load(Relaxed);
                loop {
                    if count == Self::SATURATED {
                        return false;
                    }
                    let Some(new) = count.checked_sub(n) else {
                        return false;
                    };
                    // Release: pairs with the Acquire below.
                    match self.0.compare_exchange_weak(count, new, Release, Relaxed) {
                        Ok(_) if new == 0 => {
                            // Acquire: pairs with the Release of the decrements.
                            let _ = self.0.load(Acquire);
                            return true;
                        }
                        Ok(_) => return false,
                        Err(now) => count = now,
                    }
                }
            }
        }
    )* };
}

cas_full! {
    /// 32 bits, every operation a loop.
    CasFull: u32, AtomicU32;
    /// 64 bits, every operation a loop.
    CasFull64: u64, AtomicU64;
}
