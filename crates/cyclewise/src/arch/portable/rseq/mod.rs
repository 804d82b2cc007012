//! The twin without restartable sequences: no area exists, so no function here can be called.
//!
//! # Safety
//! Every function takes an [`Area`], a type without values.
#![allow(unsafe_code, reason = "the twin of functions with contracts")]

pub(crate) mod array;
pub(crate) mod by_cpu;
pub(crate) mod free_list;

use crate::arch::Id;

/// A registered area; none exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Area {}

impl Area {
    /// Never called.
    ///
    /// # Safety
    /// None is needed.
    pub(crate) unsafe fn id<I: Id>(self) -> u32 {
        match self {}
    }
}

/// Functions of an area and arguments of these types.
macro_rules! uncalled {
    ($(fn $name:ident[$($generic:tt)*]($($argument:ty),*) -> $result:ty;)*) => { $(
        /// Never called.
        ///
        /// # Safety
        /// None is needed.
        #[allow(clippy::too_many_arguments, reason = "the operands of the sequence")]
        pub(crate) unsafe fn $name<$($generic)*>(area: Area, $(_: $argument),*) -> $result {
            match area {}
        }
    )* };
}
use uncalled;

/// Operations on the current CPU's copy of a word.
pub(crate) trait Sections: Copy {
    /// Loads.
    ///
    /// # Safety
    /// None is needed; the same for all below.
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
    /// Stores; returns the previous value.
    unsafe fn xchg<I: Id>(area: Area, _: *mut Self, _: Self) -> Self {
        match area {}
    }
    /// Stores `new` if the word is `old`; returns the previous value.
    unsafe fn cmpxchg<I: Id>(area: Area, _: *mut Self, _: Self, _: Self) -> Self {
        match area {}
    }
    /// Adds; returns the sum.
    unsafe fn add_return<I: Id>(area: Area, _: *mut Self, _: Self) -> Self {
        match area {}
    }
}

impl Sections for u8 {}
impl Sections for u16 {}
impl Sections for u32 {}
impl Sections for u64 {}
