//! The counterpart without assembly: std's operations.
//!
//! Always inlined: in a function of its own, each would select a constant ordering at run time.

use crate::arch::{Bits, Exchange, Rmw};
use core::cmp;
use core::sync::atomic::{self, Ordering};

macro_rules! words {
    ($($atomic:ident: $value:ty),*) => { $(
        impl Rmw for atomic::$atomic {
            type Value = $value;

            #[inline(always)]
            fn xadd(&self, value: $value, order: Ordering) -> $value {
                self.fetch_add(value, order)
            }
            #[inline(always)]
            fn add(&self, value: $value, order: Ordering) {
                self.fetch_add(value, order);
            }
            #[inline(always)]
            fn sub(&self, value: $value, order: Ordering) {
                self.fetch_sub(value, order);
            }
            #[inline(always)]
            fn inc(&self, order: Ordering) {
                self.fetch_add(1, order);
            }
            #[inline(always)]
            fn dec(&self, order: Ordering) {
                self.fetch_sub(1, order);
            }
            #[inline(always)]
            fn add_negative(&self, value: $value, order: Ordering) -> bool {
                negative(self.fetch_add(value, order).wrapping_add(value).leading_zeros())
            }
            #[inline(always)]
            fn sub_and_test(&self, value: $value, order: Ordering) -> bool {
                self.fetch_sub(value, order) == value
            }
            #[inline(always)]
            fn inc_negative(&self, order: Ordering) -> bool {
                negative(self.fetch_add(1, order).wrapping_add(1).leading_zeros())
            }
            #[inline(always)]
            fn dec_negative(&self, order: Ordering) -> bool {
                negative(self.fetch_sub(1, order).wrapping_sub(1).leading_zeros())
            }
            #[inline(always)]
            fn dec_and_test(&self, order: Ordering) -> bool {
                self.fetch_sub(1, order) == 1
            }
            #[inline(always)]
            fn dec_not_positive(&self, order: Ordering) -> bool {
                let old = self.fetch_sub(1, order);
                old == 1 || old == 0 || negative(old.leading_zeros())
            }
            #[inline(always)]
            fn fetch_inc_cmp(&self, order: Ordering) -> cmp::Ordering {
                let old = self.fetch_add(1, order);
                against_minus_one(!old == 0, old.leading_zeros())
            }
            #[inline(always)]
            fn dec_cmp(&self, order: Ordering) -> cmp::Ordering {
                let new = self.fetch_sub(1, order).wrapping_sub(1);
                against_minus_one(!new == 0, new.leading_zeros())
            }
        }

        impl Bits for atomic::$atomic {
            type Value = $value;

            #[inline(always)]
            fn and(&self, value: $value, order: Ordering) {
                self.fetch_and(value, order);
            }
            #[inline(always)]
            fn or(&self, value: $value, order: Ordering) {
                self.fetch_or(value, order);
            }
            #[inline(always)]
            fn xor(&self, value: $value, order: Ordering) {
                self.fetch_xor(value, order);
            }
        }

        impl Exchange for atomic::$atomic {
            type Value = $value;

            #[inline(always)]
            fn cmpxchg(&self, old: $value, new: $value, success: Ordering, failure: Ordering) -> $value {
                match self.compare_exchange(old, new, success, failure) {
                    Ok(found) | Err(found) => found,
                }
            }
        }
    )* };
}

words!(
    AtomicU8: u8,
    AtomicU16: u16,
    AtomicU32: u32,
    AtomicU64: u64,
    AtomicUsize: usize,
    AtomicI8: i8,
    AtomicI16: i16,
    AtomicI32: i32,
    AtomicI64: i64,
    AtomicIsize: isize
);

/// Compares a number, read as signed, with minus one, whose bits are all set.
#[inline(always)]
fn against_minus_one(is_it: bool, leading_zeros: u32) -> cmp::Ordering {
    if is_it {
        cmp::Ordering::Equal
    } else if negative(leading_zeros) {
        cmp::Ordering::Less
    } else {
        cmp::Ordering::Greater
    }
}

/// Whether the top bit is set: no zero precedes it.
#[inline(always)]
fn negative(leading_zeros: u32) -> bool {
    leading_zeros == 0
}

impl Bits for atomic::AtomicBool {
    type Value = bool;

    #[inline(always)]
    fn and(&self, value: bool, order: Ordering) {
        self.fetch_and(value, order);
    }
    #[inline(always)]
    fn or(&self, value: bool, order: Ordering) {
        self.fetch_or(value, order);
    }
    #[inline(always)]
    fn xor(&self, value: bool, order: Ordering) {
        self.fetch_xor(value, order);
    }
}

impl Exchange for atomic::AtomicBool {
    type Value = bool;

    #[inline(always)]
    fn cmpxchg(&self, old: bool, new: bool, success: Ordering, failure: Ordering) -> bool {
        match self.compare_exchange(old, new, success, failure) {
            Ok(found) | Err(found) => found,
        }
    }
}

impl<T> Exchange for atomic::AtomicPtr<T> {
    type Value = *mut T;

    #[inline(always)]
    fn cmpxchg(&self, old: *mut T, new: *mut T, success: Ordering, failure: Ordering) -> *mut T {
        match self.compare_exchange(old, new, success, failure) {
            Ok(found) | Err(found) => found,
        }
    }
}
