//! The counterpart without GS: no base exists, so no function here can be called.
//!
//! # Safety
//! Every function takes a [`Base`], a type without values.
#![allow(unsafe_code, reason = "the counterpart of functions with contracts")]

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
    uncalled! { Base:
        fn gs_read[](*mut Self) -> Self;
        fn gs_write[](*mut Self, Self) -> ();
        fn gs_add[](*mut Self, Self) -> ();
        fn gs_inc[](*mut Self) -> ();
        fn gs_and[](*mut Self, Self) -> ();
        fn gs_or[](*mut Self, Self) -> ();
        fn gs_cmpxchg[](*mut Self, Self, Self) -> Self;
        fn gs_add_return[](*mut Self, Self) -> Self;
    }
}

impl Gs for u8 {}
impl Gs for u16 {}
impl Gs for u32 {}
impl Gs for u64 {}
