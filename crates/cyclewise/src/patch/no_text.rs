//! The text writer where no text is written.
//!
//! # Safety
//! Nothing is done.
#![allow(
    unsafe_code,
    dead_code,
    reason = "the twin of a function with a contract; some builds have no caller"
)]

use crate::error::Refusal;

/// One edit of the program's text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edit {
    pub(crate) at: *mut u8,
    pub(crate) len: u8,
    pub(crate) expect: [u8; 8],
    pub(crate) new: [u8; 8],
}

/// Refuses.
///
/// # Errors
/// Always.
///
/// # Safety
/// None is needed.
pub(crate) unsafe fn apply(_: &mut [Edit]) -> Result<(), Refusal> {
    Err(Refusal::NoLockPrefix)
}
