//! The twin where nothing restarts: there is no area, so nothing here can be called.
//!
//! # Safety
//! Every function has an [`Area`], of which there is none.
#![allow(
    unsafe_code,
    dead_code,
    reason = "the twin of functions with contracts; some builds have no caller"
)]

use crate::arch::{Id, Outcome};

/// A registered area: none exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Area {}

impl Area {
    /// Not called.
    ///
    /// # Safety
    /// None is needed.
    pub(crate) unsafe fn id<I: Id>(self) -> u32 {
        match self {}
    }
}

/// Operations on the current CPU's copy of a word.
pub(crate) trait Sections: Copy {
    /// Loads.
    ///
    /// # Safety
    /// None is needed, nor below.
    unsafe fn read<I: Id>(area: Area, _: *mut Self) -> Self {
        match area {}
    }
    /// Stores.
    unsafe fn write<I: Id, const RELEASE: bool>(area: Area, _: *mut Self, _: Self) {
        match area {}
    }
    /// Adds.
    unsafe fn add<I: Id, const RELEASE: bool>(area: Area, _: *mut Self, _: Self) {
        match area {}
    }
    /// Ands.
    unsafe fn and<I: Id>(area: Area, _: *mut Self, _: Self) {
        match area {}
    }
    /// Ors.
    unsafe fn or<I: Id>(area: Area, _: *mut Self, _: Self) {
        match area {}
    }
    /// Stores, and returns what was there.
    unsafe fn xchg<I: Id>(area: Area, _: *mut Self, _: Self) -> Self {
        match area {}
    }
    /// Stores `new` where `old` is found; returns what was found.
    unsafe fn cmpxchg<I: Id>(area: Area, _: *mut Self, _: Self, _: Self) -> Self {
        match area {}
    }
    /// Adds, and returns the sum.
    unsafe fn add_return<I: Id>(area: Area, _: *mut Self, _: Self) -> Self {
        match area {}
    }
}

impl Sections for u8 {}
impl Sections for u16 {}
impl Sections for u32 {}
impl Sections for u64 {}

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
