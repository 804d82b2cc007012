//! The text writer's counterpart where text cannot be patched.
//!
//! # Safety
//! Nothing is written.
#![allow(
    unsafe_code,
    dead_code,
    unused_imports,
    reason = "the counterpart of a function with a contract; some builds have no caller"
)]

pub(crate) use super::text_edit::{Edit, Goal, Others};
use super::text_guard::TextGuard;
use crate::error::Refusal;

pub(crate) fn settle(_: &TextGuard) {}

pub(crate) fn forget(_: &TextGuard) {}

pub(crate) mod kept {
    use super::*;

    pub(crate) fn make_readable(_: &TextGuard, _: &[Edit]) {}

    macro_rules! refused {
        ($($name:ident)*) => { $(
            /// Refuses.
            ///
            /// # Errors
            /// Always.
            ///
            /// # Safety
            /// None is needed.
            pub(crate) unsafe fn $name(_: &TextGuard, _: &mut [Edit], _: Others) -> Result<(), Refusal> {
                Err(Refusal::NoLockPrefix)
            }
        )* };
    }
    refused! { apply_and_keep apply_and_release apply_more }
}
