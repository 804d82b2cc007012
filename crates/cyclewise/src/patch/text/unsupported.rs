//! The text writer's twin where text cannot be patched.
//!
//! # Safety
//! Nothing is written.
#![allow(
    unsafe_code,
    dead_code,
    reason = "the twin of a function with a contract; some builds have no caller"
)]

use super::text_lock::TextGuard;
use crate::error::Refusal;
use core::sync::atomic::AtomicBool;

/// One edit of the program's text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edit {
    pub(crate) at: *mut u8,
    pub(crate) len: u8,
    pub(crate) expect: [u8; 8],
    pub(crate) new: [u8; 8],
}

/// The state that a batch changes, and its new value.
pub(crate) struct Goal {
    pub(crate) state: &'static AtomicBool,
    pub(crate) value: bool,
}

/// Nothing to settle.
pub(crate) fn settle(_: &TextGuard) {}

/// Nothing is recorded.
pub(crate) fn forget(_: &TextGuard) {}

/// What the caller knows about other threads.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Others {
    Asked,
    None,
}

/// Refuses.
///
/// # Errors
/// Always.
///
/// # Safety
/// None is needed.
pub(crate) unsafe fn apply_and_keep(_: &TextGuard, _: &mut [Edit]) -> Result<(), Refusal> {
    Err(Refusal::NoLockPrefix)
}

/// Refuses.
///
/// # Errors
/// Always.
///
/// # Safety
/// None is needed.
pub(crate) unsafe fn apply_and_release(_: &TextGuard, _: &mut [Edit], _: Others) -> Result<(), Refusal> {
    Err(Refusal::NoLockPrefix)
}
