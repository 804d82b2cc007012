//! Integers of 1, 2, 4 and 8 bytes.
//!
//! # Safety
//! `from_ptr` has std's contract: its caller vouches for the pointer.
#![expect(unsafe_code, reason = "from_ptr, as std has it")]

use super::common::{by_exchange, common};
use crate::arch::{Bits, Exchange, Rmw};
use core::sync::atomic::{self, Ordering};
use core::{cmp, fmt};

/// Read-modify-writes that are one instruction, under its name in `arch`.
macro_rules! operations {
    ($($(#[$meta:meta])* $name:ident($($value:ident: $type:ty)?) $(-> $result:ty)?;)*) => { $(
        $(#[$meta])*
        #[inline]
        pub fn $name(&self, $($value: $type,)? order: Ordering) $(-> $result)? {
            self.0.$name($($value,)? order)
        }
    )* };
}

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

            operations! {
                /// Adds, wrapping: ADD.
                add(value: $value);
                /// Subtracts, wrapping: SUB.
                sub(value: $value);
                /// Adds one, wrapping: INC.
                #[doc(alias = "atomic_inc")]
                inc();
                /// Subtracts one, wrapping: DEC.
                #[doc(alias = "atomic_dec")]
                dec();
                /// Ands: AND.
                and(value: $value);
                /// Ors: OR.
                or(value: $value);
                /// Exclusive-ors: XOR.
                xor(value: $value);
                /// Adds, wrapping; true if the result, read as signed, is negative: ADD and a jump on its sign.
                #[doc(alias = "atomic_add_negative")]
                add_negative(value: $value) -> bool;
                /// Adds one, wrapping; true if the result, read as signed, is negative: INC and a jump on its sign.
                inc_negative() -> bool;
                /// Subtracts one, wrapping; true if the result, read as signed, is negative: DEC and a jump on its sign.
                dec_negative() -> bool;
                /// Subtracts, wrapping; true if the result is zero: SUB and a jump.
                #[doc(alias = "atomic_sub_and_test")]
                sub_and_test(value: $value) -> bool;
                /// Subtracts one, wrapping; true if the result is zero: DEC and a jump.
                #[doc(alias = "atomic_dec_and_test")]
                dec_and_test() -> bool;
                /// Subtracts one, wrapping; true if the value was one, zero or, read as signed, negative: DEC and a jump.
                dec_not_positive() -> bool;
                /// Adds one, wrapping; returns how the old value, read as signed, compares with −1: INC and a jump unless greater.
                fetch_inc_cmp() -> cmp::Ordering;
                /// Subtracts one, wrapping; returns how the result, read as signed, compares with −1: SUB and a jump unless greater.
                dec_cmp() -> cmp::Ordering;
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
