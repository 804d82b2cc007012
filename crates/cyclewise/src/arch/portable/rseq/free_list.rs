//! The twin without restartable sequences: no area exists, so no function here can be called.
//!
//! # Safety
//! Every function takes an [`Area`], a type without values.
#![allow(unsafe_code, reason = "the twin of functions with contracts")]

use super::Area;
use crate::arch::{Id, Outcome};

/// Adds if the sum is not above a bound.
///
/// # Safety
/// None is needed; the same for all below.
pub(crate) unsafe fn add_below<I: Id>(area: Area, _: *mut u64, _: u64) -> Outcome {
    match area {}
}

/// Adds if the sum is not below a bound.
///
/// # Safety
/// None is needed.
pub(crate) unsafe fn add_above<I: Id>(area: Area, _: *mut u64, _: u64) -> Outcome {
    match area {}
}

/// Adds while a guard is 0.
///
/// # Safety
/// None is needed.
pub(crate) unsafe fn add_if_open<I: Id>(area: Area, _: *const u64, _: *mut u64, _: u64) -> Outcome {
    match area {}
}

/// Takes the first node off a list.
///
/// # Safety
/// None is needed.
pub(crate) unsafe fn list_pop<I: Id>(area: Area, _: *mut u64) -> u64 {
    match area {}
}

/// Puts a run of nodes on a list.
///
/// # Safety
/// None is needed.
pub(crate) unsafe fn list_push<I: Id>(area: Area, _: *mut u64, _: u64, _: *mut u64) -> Outcome {
    match area {}
}

/// Takes all nodes of a list.
///
/// # Safety
/// None is needed.
pub(crate) unsafe fn list_take<I: Id>(area: Area, _: *mut u64) -> u64 {
    match area {}
}
