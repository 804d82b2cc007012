//! `primitive` under `--cfg loom`: loom's atomics, extended by this crate's operations.
//!
//! # Safety
//! The contract of [`inc_negative_at`] and [`dec_negative_at`] makes their references valid.
#![expect(
    unsafe_code,
    reason = "a count by its offset from the value, and a cell whose accesses loom checks"
)]
#![allow(dead_code, reason = "each model uses a part")]

use core::cmp;
use core::ops::Deref;
use core::sync::atomic::Ordering;

pub(crate) use loom::hint::spin_loop;
pub(crate) use loom::sync::atomic::fence;

/// Marks the path that it is on as unlikely: what `core::hint::cold_path` does from Rust 1.95 on.
#[cold]
#[inline]
pub(crate) const fn cold_path() {}

/// Atomics whose LOCK prefixes are never elided.
pub(crate) mod unpatched {
    pub(crate) use loom::sync::atomic::{AtomicU64, fence};
}

/// Threads, and twins, for tests that loom runs as models.
#[cfg(test)]
pub(crate) mod threads {
    pub(crate) use loom::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize};
    pub(crate) use loom::sync::{Arc, Mutex};
    pub(crate) use loom::{model, thread};

    /// A value whose accesses loom checks: unordered reads and writes end a model.
    pub(crate) struct Checked<T>(loom::cell::UnsafeCell<T>);

    // SAFETY: loom ends the model if two threads access the cell at once.
    unsafe impl<T: Send> Send for Checked<T> {}
    // SAFETY: and if one reads while another writes.
    unsafe impl<T: Send> Sync for Checked<T> {}

    impl<T> Checked<T> {
        pub(crate) fn new(value: T) -> Self {
            Self(loom::cell::UnsafeCell::new(value))
        }

        #[track_caller]
        pub(crate) fn get(&self) -> T
        where
            T: Copy,
        {
            // SAFETY: valid; loom sees to it that nobody writes.
            self.0.with(|value| unsafe { *value })
        }

        /// Writes, and returns what was there.
        #[track_caller]
        pub(crate) fn replace(&self, new: T) -> T {
            // SAFETY: valid; loom sees to it that nobody else reads or writes.
            self.0.with_mut(|value| unsafe { core::mem::replace(&mut *value, new) })
        }
    }

    /// Twins broken on purpose: each fails with these words.
    macro_rules! caught {
        ($($(#[$doc:meta])* $name:ident: $words:literal by $run:expr;)*) => { $(
            $(#[$doc])*
            #[test]
            #[should_panic(expected = $words)]
            fn $name() {
                $run;
            }
        )* };
    }
    pub(crate) use caught;
}

macro_rules! atomics {
    ($($name:ident: $value:ident;)*) => { $(
        #[derive(Debug)]
        pub(crate) struct $name(loom::sync::atomic::$name);

        impl $name {
            #[track_caller]
            pub(crate) fn new(value: $value) -> Self {
                Self(loom::sync::atomic::$name::new(value))
            }

            #[track_caller]
            pub(crate) fn exchange_if(&self, old: $value, new: $value, success: Ordering, failure: Ordering) -> bool {
                self.compare_exchange(old, new, success, failure).is_ok()
            }

            #[track_caller]
            pub(crate) fn add(&self, value: $value, order: Ordering) {
                self.fetch_add(value, order);
            }

            #[track_caller]
            pub(crate) fn sub(&self, value: $value, order: Ordering) {
                self.fetch_sub(value, order);
            }

            #[track_caller]
            pub(crate) fn and(&self, value: $value, order: Ordering) {
                self.fetch_and(value, order);
            }

            #[track_caller]
            pub(crate) fn inc_negative(&self, order: Ordering) -> bool {
                self.fetch_add(1, order).wrapping_add(1).cast_signed() < 0
            }

            #[track_caller]
            pub(crate) fn dec_negative(&self, order: Ordering) -> bool {
                self.fetch_sub(1, order).wrapping_sub(1).cast_signed() < 0
            }

            #[track_caller]
            pub(crate) fn fetch_inc_cmp(&self, order: Ordering) -> cmp::Ordering {
                self.fetch_add(1, order).cast_signed().cmp(&-1)
            }

            #[track_caller]
            pub(crate) fn dec_cmp(&self, order: Ordering) -> cmp::Ordering {
                self.fetch_sub(1, order).wrapping_sub(1).cast_signed().cmp(&-1)
            }
        }

        impl Deref for $name {
            type Target = loom::sync::atomic::$name;

            fn deref(&self) -> &Self::Target {
                &self.0
            }
        }
    )* };
}
atomics! {
    AtomicU16: u16;
    AtomicU32: u32;
    AtomicU64: u64;
    AtomicUsize: usize;
}

/// Adds one to the count at `base + D`; true where the result is negative.
///
/// # Safety
/// There is an [`AtomicUsize`] at `base + D`, in the same allocation, valid during the call.
pub(crate) unsafe fn inc_negative_at<const D: isize>(base: *const u8, order: Ordering) -> bool {
    // SAFETY: the caller promises an atomic there.
    unsafe { at::<D>(base) }.inc_negative(order)
}

/// Subtracts one from the count at `base + D`; true where the result is negative.
///
/// # Safety
/// As [`inc_negative_at`].
pub(crate) unsafe fn dec_negative_at<const D: isize>(base: *const u8, order: Ordering) -> bool {
    // SAFETY: the caller promises an atomic there.
    unsafe { at::<D>(base) }.dec_negative(order)
}

/// # Safety
/// As [`inc_negative_at`].
unsafe fn at<'a, const D: isize>(base: *const u8) -> &'a AtomicUsize {
    // SAFETY: the caller promises that it is in the same allocation.
    let word = unsafe { base.offset(D) };
    // SAFETY: the caller promises an atomic there, for as long as it is used.
    unsafe { &*word.cast::<AtomicUsize>() }
}

/// A function that is `const`, except under loom, whose atomics are created at run time.
macro_rules! const_fn {
    ($(#[$attribute:meta])* $visibility:vis fn $($rest:tt)*) => {
        $(#[$attribute])* $visibility fn $($rest)*
    };
}
pub(crate) use const_fn;

/// An array that evaluates the expression for each element.
macro_rules! array {
    ($element:expr; $count:expr) => {
        core::array::from_fn::<_, { $count }, _>(|_| $element)
    };
}
pub(crate) use array;

/// A function that returns a static of the model.
macro_rules! global {
    ($(#[$attribute:meta])* $visibility:vis fn $name:ident() -> &'static $type:ty { $value:expr }) => {
        $(#[$attribute])*
        $visibility fn $name() -> &'static $type {
            loom::lazy_static! {
                static ref GLOBAL: $type = $value;
            }
            &GLOBAL
        }
    };
}
pub(crate) use global;

/// Stores to a word that other threads change by read-modify-writes. In loom a plain store can come between the read
/// and the write of a read-modify-write, which no machine allows, so this is a swap.
macro_rules! store {
    ($atomic:expr, $value:expr, $order:expr) => {
        let _ = $atomic.swap($value, $order);
    };
}
pub(crate) use store;
