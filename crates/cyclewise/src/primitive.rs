//! The one place for atomics, fences, pauses and statics. Under `--cfg loom` `primitive_loom.rs` replaces this file, so
//! that loom's scheduler sees every access.
//!
//! The atomics are this crate's, so that [`patch`](crate::patch) elides their LOCK prefixes; those in [`unpatched`] are
//! core's.

pub(crate) use crate::arch::{dec_negative_at, inc_negative_at};
pub(crate) use crate::atomic::{AtomicU16, AtomicU32, AtomicU64, AtomicUsize, fence};
pub(crate) use core::hint::spin_loop;

/// Marks the path that it is on as unlikely: what `core::hint::cold_path` does from Rust 1.95 on.
#[cold]
#[inline]
pub(crate) const fn cold_path() {}

/// Atomics whose LOCK prefixes are never elided.
pub(crate) mod unpatched {
    pub(crate) use core::sync::atomic::{AtomicU64, fence};
}

/// A function that is `const`, except under loom, whose atomics are created at run time.
macro_rules! const_fn {
    ($(#[$attribute:meta])* $visibility:vis fn $($rest:tt)*) => {
        $(#[$attribute])* $visibility const fn $($rest)*
    };
}
pub(crate) use const_fn;

/// An array that evaluates the expression for each element.
macro_rules! array {
    ($element:expr; $count:expr) => {
        [const { $element }; $count]
    };
}
pub(crate) use array;

/// A function that returns a static.
macro_rules! global {
    ($(#[$attribute:meta])* $visibility:vis fn $name:ident() -> &'static $type:ty { $value:expr }) => {
        $(#[$attribute])*
        #[inline(always)]
        $visibility fn $name() -> &'static $type {
            static GLOBAL: $type = $value;
            &GLOBAL
        }
    };
}
pub(crate) use global;

/// Stores to a word that other threads change by read-modify-writes.
macro_rules! store {
    ($atomic:expr, $value:expr, $order:expr) => {
        $atomic.store($value, $order)
    };
}
pub(crate) use store;

/// Threads, for tests that loom runs as models.
#[cfg(all(test, feature = "std"))]
pub(crate) mod threads {
    pub(crate) use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize};
    pub(crate) use std::sync::{Arc, Mutex};
    pub(crate) use std::thread;

    /// Runs the test 200 times, in random interleavings.
    pub(crate) fn model(run: impl Fn()) {
        (0..200).for_each(|_| run());
    }

    /// Twins that fail by chance only with real threads: loom runs them.
    macro_rules! caught {
        ($($(#[$doc:meta])* $name:ident: $words:literal by $run:expr;)*) => { $(
            $(#[$doc])*
            #[expect(dead_code, reason = "loom runs it")]
            fn $name() {
                $run;
            }
        )* };
    }
    pub(crate) use caught;
}
