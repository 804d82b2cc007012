//! The twin without GS: no base exists, so no function here can be called.
//!
//! # Safety
//! Every function takes a [`Base`], a type without values.
#![allow(unsafe_code, reason = "the twin of functions with contracts")]

/// Proof that the base of GS is set; it never is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Base {}

impl Base {
    /// `None`.
    ///
    /// # Safety
    /// None is needed.
    pub(crate) unsafe fn new() -> Option<Self> {
        None
    }
}

/// Operations on the copy of this CPU.
pub(crate) trait Gs: Copy {
    /// Loads.
    ///
    /// # Safety
    /// None is needed; the same for all below.
    unsafe fn gs_read(base: Base, _: *mut Self) -> Self {
        match base {}
    }
    /// Stores.
    unsafe fn gs_write(base: Base, _: *mut Self, _: Self) {
        match base {}
    }
    /// Adds.
    unsafe fn gs_add(base: Base, _: *mut Self, _: Self) {
        match base {}
    }
    /// Adds one.
    unsafe fn gs_inc(base: Base, _: *mut Self) {
        match base {}
    }
    /// Ands.
    unsafe fn gs_and(base: Base, _: *mut Self, _: Self) {
        match base {}
    }
    /// Ors.
    unsafe fn gs_or(base: Base, _: *mut Self, _: Self) {
        match base {}
    }
    /// Stores `new` if the word is `old`; returns the previous value.
    unsafe fn gs_cmpxchg(base: Base, _: *mut Self, _: Self, _: Self) -> Self {
        match base {}
    }
    /// Adds; returns the sum.
    unsafe fn gs_add_return(base: Base, _: *mut Self, _: Self) -> Self {
        match base {}
    }
}

impl Gs for u8 {}
impl Gs for u16 {}
impl Gs for u32 {}
impl Gs for u64 {}
