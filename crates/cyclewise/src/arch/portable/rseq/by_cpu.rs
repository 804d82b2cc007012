//! The twin without restartable sequences: no area exists, so no function here can be called.
//!
//! # Safety
//! Every function takes an [`Area`], a type without values.
#![allow(unsafe_code, reason = "the twin of functions with contracts")]

use super::Area;
use crate::arch::{Id, Outcome};

/// If `*v == expect`, `*v = new`.
///
/// # Safety
/// None is needed.
pub(crate) unsafe fn load_cbne_store<I: Id, const RELEASE: bool>(
    area: Area,
    _: u32,
    _: *const u64,
    _: *mut u64,
    _: u64,
    _: u64,
) -> Outcome {
    match area {}
}

/// `*v += count`.
///
/// # Safety
/// None is needed.
pub(crate) unsafe fn load_add_store<I: Id>(area: Area, _: u32, _: *const u64, _: *mut u64, _: u64) -> Outcome {
    match area {}
}

/// Pops.
///
/// # Safety
/// None is needed.
pub(crate) unsafe fn load_cbeq_store_add_load_store<I: Id>(
    area: Area,
    _: u32,
    _: *const u64,
    _: *mut u64,
    _: u64,
    _: isize,
    _: *mut u64,
) -> Outcome {
    match area {}
}

/// `*(*(*at + offset)) += count`.
///
/// # Safety
/// None is needed.
pub(crate) unsafe fn load_add_load_load_add_store<I: Id>(
    area: Area,
    _: u32,
    _: *const u64,
    _: *const u64,
    _: isize,
    _: u64,
) -> Outcome {
    match area {}
}

/// If `*v == expect`, `*v2 = new2`, then `*v = new`.
///
/// # Safety
/// None is needed.
#[expect(clippy::too_many_arguments, reason = "the operands of the sequence")]
pub(crate) unsafe fn load_cbne_store_store<I: Id, const RELEASE: bool>(
    area: Area,
    _: u32,
    _: *const u64,
    _: *mut u64,
    _: u64,
    _: *mut u64,
    _: u64,
    _: u64,
) -> Outcome {
    match area {}
}

/// If `*v == expect` and `*v2 == expect2`, `*v = new`.
///
/// # Safety
/// None is needed.
#[expect(clippy::too_many_arguments, reason = "the operands of the sequence")]
pub(crate) unsafe fn load_cbne_load_cbne_store<I: Id>(
    area: Area,
    _: u32,
    _: *const u64,
    _: *mut u64,
    _: u64,
    _: *const u64,
    _: u64,
    _: u64,
) -> Outcome {
    match area {}
}

/// If `*v == expect`, copies, then `*v = new`.
///
/// # Safety
/// None is needed.
#[expect(clippy::too_many_arguments, reason = "the operands of the sequence")]
pub(crate) unsafe fn load_cbne_memcpy_store<I: Id, const RELEASE: bool>(
    area: Area,
    _: u32,
    _: *const u64,
    _: *mut u64,
    _: u64,
    _: *mut u64,
    _: *const u64,
    _: usize,
    _: u64,
) -> Outcome {
    match area {}
}
