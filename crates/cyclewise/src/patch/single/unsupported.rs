//! `elide` in a build without single mode: LOCK stays.

use super::unsupported;
use crate::error::Refusal;

pub(super) fn reelide() -> Result<(), Refusal> {
    Err(unsupported())
}

pub(super) fn lock() -> Result<(), Refusal> {
    Ok(())
}
