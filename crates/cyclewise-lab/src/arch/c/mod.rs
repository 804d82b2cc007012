//! The loops of `c/rows.c`: the C header's operations and C11's, compiled by the C compiler that the build found.
//!
//! Where it found none, or one that does not compile the file, [`why_not`] says so, and there are no rows.
//!
//! # Safety
//! Each function follows the C calling convention and touches its stack and the page that it is given (Invariant 1 of `arch`).
#![allow(unsafe_code, reason = "functions written in C, in builds that have them")]

use super::Body;
/// What the header of the clock calls.
use cyclewise_c as _;

/// Why there are no rows; `None` where there are.
pub(crate) fn why_not() -> Option<&'static str> {
    option_env!("CYCLEWISE_NO_C")
}

macro_rules! rows {
    ($($(#[$doc:meta])* $name:ident $([$round:literal])?: $once:ident, $twice:ident, $four_times:ident;)*) => { $(
        $(#[$doc])*
        #[cfg(c_rows)]
        pub(crate) fn $name(row: &'static str) -> Option<Body> {
            unsafe extern "C" {
                fn $once(iterations: u64, page: *mut u64) -> u64;
                fn $twice(iterations: u64, page: *mut u64) -> u64;
                fn $four_times(iterations: u64, page: *mut u64) -> u64;
            }
            // SAFETY: they are as the module says.
            Some(unsafe { Body::new(row, 4 $(* $round)?, [$once, $twice, $four_times]) })
        }

        $(#[$doc])*
        #[cfg(not(c_rows))]
        pub(crate) fn $name(_row: &'static str) -> Option<Body> {
            None
        }
    )* };
}

rows! {
    /// An addition without a result.
    inc: cyclewise_lab_inc_4, cyclewise_lab_inc_8, cyclewise_lab_inc_16;
    /// The same by C11.
    c11_inc: cyclewise_lab_c11_inc_4, cyclewise_lab_c11_inc_8, cyclewise_lab_c11_inc_16;
    /// An addition whose result is used.
    fetch_add: cyclewise_lab_fetch_add_4, cyclewise_lab_fetch_add_8, cyclewise_lab_fetch_add_16;
    /// The same by C11.
    c11_fetch_add: cyclewise_lab_c11_fetch_add_4, cyclewise_lab_c11_fetch_add_8, cyclewise_lab_c11_fetch_add_16;
    /// A reference is taken and dropped.
    refcount: cyclewise_lab_refcount_4, cyclewise_lab_refcount_8, cyclewise_lab_refcount_16;
    /// The same in 64 bits.
    refcount64: cyclewise_lab_refcount64_4, cyclewise_lab_refcount64_8, cyclewise_lab_refcount64_16;
    /// The same by C11, unchecked, in 32 bits.
    c11_count: cyclewise_lab_c11_count_4, cyclewise_lab_c11_count_8, cyclewise_lab_c11_count_16;
    /// The same in 64 bits.
    c11_count64: cyclewise_lab_c11_count64_4, cyclewise_lab_c11_count64_8, cyclewise_lab_c11_count64_16;
    /// A reference to an object is taken, the object looked at, and the reference dropped.
    object: cyclewise_lab_object_4, cyclewise_lab_object_8, cyclewise_lab_object_16;
    /// The same by C11.
    c11_object: cyclewise_lab_c11_object_4, cyclewise_lab_c11_object_8, cyclewise_lab_c11_object_16;
    /// Additions to one word, sixty-four a copy.
    inc_round[64]: cyclewise_lab_inc_round_4, cyclewise_lab_inc_round_8, cyclewise_lab_inc_round_16;
    /// The same, to each of 64 words in turn.
    inc_64[64]: cyclewise_lab_inc_64_4, cyclewise_lab_inc_64_8, cyclewise_lab_inc_64_16;
    /// As `inc_round` by C11.
    c11_inc_round[64]: cyclewise_lab_c11_inc_round_4, cyclewise_lab_c11_inc_round_8, cyclewise_lab_c11_inc_round_16;
    /// As `inc_64` by C11.
    c11_inc_64[64]: cyclewise_lab_c11_inc_64_4, cyclewise_lab_c11_inc_64_8, cyclewise_lab_c11_inc_64_16;
    /// The clock, load-ordered.
    clock_now: cyclewise_lab_clock_now_4, cyclewise_lab_clock_now_8, cyclewise_lab_clock_now_16;
    /// The bare counter.
    ticks: cyclewise_lab_ticks_4, cyclewise_lab_ticks_8, cyclewise_lab_ticks_16;
    /// The counter, load-ordered.
    ticks_ordered: cyclewise_lab_ticks_ordered_4, cyclewise_lab_ticks_ordered_8, cyclewise_lab_ticks_ordered_16;
}

#[cfg(test)]
mod tests;
