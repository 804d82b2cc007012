//! The twin where nothing restarts: there is no area, so nothing here can be called.
//!
//! # Safety
//! Every function has an [`Area`], of which there is none.
#![allow(unsafe_code, reason = "the twin of functions with contracts")]

pub(crate) mod array;
pub(crate) mod by_cpu;
pub(crate) mod free_list;

use crate::arch::Id;

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
