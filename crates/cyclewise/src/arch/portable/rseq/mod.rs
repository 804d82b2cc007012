//! The counterpart without restartable sequences: no area exists, so no function here can be called.
//!
//! # Safety
//! Every function takes an [`Area`], a type without values.
#![allow(unsafe_code, reason = "the counterpart of functions with contracts")]

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

/// Operations on the current CPU's copy of a word.
pub(crate) trait Sections: Copy {
    uncalled! { Area:
        fn read[I: Id](*mut Self) -> Self;
        fn write[I: Id, const RELEASE: bool](*mut Self, Self) -> ();
        fn add[I: Id, const RELEASE: bool](*mut Self, Self) -> ();
        fn and[I: Id](*mut Self, Self) -> ();
        fn or[I: Id](*mut Self, Self) -> ();
        fn xchg[I: Id](*mut Self, Self) -> Self;
        fn cmpxchg[I: Id](*mut Self, Self, Self) -> Self;
        fn add_return[I: Id](*mut Self, Self) -> Self;
    }
}

impl Sections for u8 {}
impl Sections for u16 {}
impl Sections for u32 {}
impl Sections for u64 {}
