//! The twin without restartable sequences: no area exists, so no function here can be called.
//!
//! # Safety
//! Every function takes an [`Area`], a type without values.
#![allow(unsafe_code, reason = "the twin of functions with contracts")]

use super::Area;
use crate::arch::{Id, Outcome};

/// Pushes a word on a stack.
///
/// # Safety
/// None is needed.
pub(crate) unsafe fn stack_push<I: Id, const N: usize>(area: Area, _: *mut u64, _: u64) -> Outcome {
    match area {}
}

/// Pops a word from a stack.
///
/// # Safety
/// None is needed.
pub(crate) unsafe fn stack_pop<I: Id>(area: Area, _: *mut u64) -> (u64, i64) {
    match area {}
}

/// Pushes as many words on a stack as fit.
///
/// # Safety
/// None is needed.
pub(crate) unsafe fn stack_push_many<I: Id, const N: usize>(area: Area, _: *mut u64, _: *const u64, _: usize) -> i64 {
    match area {}
}

/// Pops up to the given number of words.
///
/// # Safety
/// None is needed.
pub(crate) unsafe fn stack_pop_many<I: Id>(area: Area, _: *mut u64, _: *mut u64, _: usize) -> i64 {
    match area {}
}

/// Puts a word in a ring.
///
/// # Safety
/// None is needed.
pub(crate) unsafe fn ring_push<I: Id, const N: usize>(area: Area, _: *mut u64, _: u64) -> Outcome {
    match area {}
}

/// Takes the oldest word from a ring.
///
/// # Safety
/// None is needed.
pub(crate) unsafe fn ring_pop<I: Id, const N: usize>(area: Area, _: *mut u64) -> (u64, i64) {
    match area {}
}

/// Adds one to a word of an array.
///
/// # Safety
/// None is needed.
#[cfg(feature = "percpu-histogram")]
pub(crate) unsafe fn inc_at_index<I: Id>(area: Area, _: *const *mut u64, _: usize) {
    match area {}
}
