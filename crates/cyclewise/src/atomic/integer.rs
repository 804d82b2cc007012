//! Integers of 1, 2, 4 and 8 bytes.
//!
//! # Safety
//! `from_ptr` has std's contract: its caller vouches for the pointer.
#![expect(unsafe_code, reason = "from_ptr, as std has it")]

use super::common::{by_exchange, common};
use crate::arch::{Bits, Exchange, Rmw};
use core::sync::atomic::{self, Ordering};
use core::{cmp, fmt};

macro_rules! integers {
    ($($name:ident: $value:ident;)*) => { $(
        #[doc = concat!("std's `", stringify!($name), "`, with patchable LOCK prefixes.")]
        ///
        /// # Examples
        /// ```
        #[doc = concat!("use cyclewise::atomic::{", stringify!($name), ", Ordering};")]
        ///
        #[doc = concat!("let users = ", stringify!($name), "::new(1);")]
        /// users.inc(Ordering::Relaxed);
        /// assert_eq!(users.fetch_add(1, Ordering::Relaxed), 2);
        /// users.sub(2, Ordering::Relaxed);
        /// assert!(users.dec_and_test(Ordering::AcqRel), "the last one");
        /// ```
        #[derive(Default)]
        #[repr(transparent)]
        pub struct $name(atomic::$name);

        impl $name {
            common!($name, $value);

            /// Adds, wrapping, and returns the old value: XADD. [`add`](Self::add) is cheaper if the old value is not needed.
            #[inline]
            pub fn fetch_add(&self, value: $value, order: Ordering) -> $value {
                self.0.xadd(value, order)
            }

            /// Subtracts, wrapping, and returns the old value: XADD of the negative.
            #[inline]
            pub fn fetch_sub(&self, value: $value, order: Ordering) -> $value {
                self.0.xadd(value.wrapping_neg(), order)
            }

            /// Ands, and returns the old value: a CMPXCHG loop. [`and`](Self::and) is cheaper if the old value is not needed.
            #[inline]
            pub fn fetch_and(&self, value: $value, order: Ordering) -> $value {
                by_exchange!(self, order, old => old & value)
            }

            /// Ands and inverts, and returns the old value: a CMPXCHG loop.
            #[inline]
            pub fn fetch_nand(&self, value: $value, order: Ordering) -> $value {
                by_exchange!(self, order, old => !(old & value))
            }

            /// Ors, and returns the old value: a CMPXCHG loop. [`or`](Self::or) is cheaper if the old value is not needed.
            #[inline]
            pub fn fetch_or(&self, value: $value, order: Ordering) -> $value {
                by_exchange!(self, order, old => old | value)
            }

            /// Exclusive-ors, and returns the old value: a CMPXCHG loop. [`xor`](Self::xor) is cheaper if the old value is not needed.
            #[inline]
            pub fn fetch_xor(&self, value: $value, order: Ordering) -> $value {
                by_exchange!(self, order, old => old ^ value)
            }

            /// Stores the greater of both, and returns the old value: a CMPXCHG loop.
            #[inline]
            pub fn fetch_max(&self, value: $value, order: Ordering) -> $value {
                by_exchange!(self, order, old => old.max(value))
            }

            /// Stores the lesser of both, and returns the old value: a CMPXCHG loop.
            #[inline]
            pub fn fetch_min(&self, value: $value, order: Ordering) -> $value {
                by_exchange!(self, order, old => old.min(value))
            }

            /// [`compare_exchange`](Self::compare_exchange) that returns only whether `new` was stored: CMPXCHG and a
            /// jump on its own flag.
            ///
            /// # Panics
            /// With `Release` and `AcqRel` for `failure`, as std does.
            #[inline]
            #[track_caller]
            pub fn exchange_if(&self, current: $value, new: $value, success: Ordering, failure: Ordering) -> bool {
                self.0.cmpxchg_and_test(current, new, success, super::failing(failure))
            }

            /// Adds, wrapping: ADD.
            #[inline]
            pub fn add(&self, value: $value, order: Ordering) {
                self.0.add(value, order);
            }

            /// Subtracts, wrapping: SUB.
            #[inline]
            pub fn sub(&self, value: $value, order: Ordering) {
                self.0.sub(value, order);
            }

            /// Adds one, wrapping: INC.
            #[inline]
            #[doc(alias = "atomic_inc")]
            pub fn inc(&self, order: Ordering) {
                self.0.inc(order);
            }

            /// Subtracts one, wrapping: DEC.
            #[inline]
            #[doc(alias = "atomic_dec")]
            pub fn dec(&self, order: Ordering) {
                self.0.dec(order);
            }

            /// Ands: AND.
            #[inline]
            pub fn and(&self, value: $value, order: Ordering) {
                self.0.and(value, order);
            }

            /// Ors: OR.
            #[inline]
            pub fn or(&self, value: $value, order: Ordering) {
                self.0.or(value, order);
            }

            /// Exclusive-ors: XOR.
            #[inline]
            pub fn xor(&self, value: $value, order: Ordering) {
                self.0.xor(value, order);
            }

            /// Adds, wrapping; true if the result, read as signed, is negative: ADD and a jump on its sign.
            #[inline]
            #[doc(alias = "atomic_add_negative")]
            pub fn add_negative(&self, value: $value, order: Ordering) -> bool {
                self.0.add_negative(value, order)
            }

            /// Adds one, wrapping; true if the result, read as signed, is negative: INC and a jump on its sign.
            #[inline]
            pub fn inc_negative(&self, order: Ordering) -> bool {
                self.0.inc_negative(order)
            }

            /// Subtracts one, wrapping; true if the result, read as signed, is negative: DEC and a jump on its sign.
            #[inline]
            pub fn dec_negative(&self, order: Ordering) -> bool {
                self.0.dec_negative(order)
            }

            /// Subtracts, wrapping; true if the result is zero: SUB and a jump.
            #[inline]
            #[doc(alias = "atomic_sub_and_test")]
            pub fn sub_and_test(&self, value: $value, order: Ordering) -> bool {
                self.0.sub_and_test(value, order)
            }

            /// Subtracts one, wrapping; true if the result is zero: DEC and a jump.
            #[inline]
            #[doc(alias = "atomic_dec_and_test")]
            pub fn dec_and_test(&self, order: Ordering) -> bool {
                self.0.dec_and_test(order)
            }

            /// Subtracts one, wrapping; true if the value was one, zero or, read as signed, negative: DEC and a jump.
            #[inline]
            pub fn dec_not_positive(&self, order: Ordering) -> bool {
                self.0.dec_not_positive(order)
            }

            /// Adds one, wrapping; returns how the old value, read as signed, compares with −1: INC and a jump unless greater.
            #[inline]
            pub fn fetch_inc_cmp(&self, order: Ordering) -> cmp::Ordering {
                self.0.fetch_inc_cmp(order)
            }

            /// Subtracts one, wrapping; returns how the result, read as signed, compares with −1: SUB and a jump unless greater.
            #[inline]
            pub fn dec_cmp(&self, order: Ordering) -> cmp::Ordering {
                self.0.dec_cmp(order)
            }
        }

        impl From<$value> for $name {
            fn from(value: $value) -> Self {
                Self::new(value)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }
    )* };
}

integers! {
    AtomicU8: u8;
    AtomicU16: u16;
    AtomicU32: u32;
    AtomicU64: u64;
    AtomicUsize: usize;
    AtomicI8: i8;
    AtomicI16: i16;
    AtomicI32: i32;
    AtomicI64: i64;
    AtomicIsize: isize;
}
