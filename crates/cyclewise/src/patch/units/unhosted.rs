//! The twin where nobody lists link units: none is known, none is adopted.

use super::Unit;
use crate::error::Refusal;
use crate::patch::Mode;
use crate::patch::text_lock::TextGuard;
use core::ops::Range;

/// Nobody looks.
pub(in crate::patch) fn examine(_: &Unit) {}

/// No coordinator.
pub(in crate::patch) fn register(_: &Unit) -> Result<bool, Refusal> {
    Ok(false)
}

/// No mode, no units and none seen.
pub(in crate::patch) fn shared() -> (Mode, [usize; 3], [usize; 2]) {
    (Mode::Locked, [0; 3], [0; 2])
}

/// No unit.
pub(in crate::patch) fn text_around(_: &TextGuard, _: usize) -> Option<Range<usize>> {
    None
}

/// No unit.
pub(in crate::patch) fn keep_text(_: &TextGuard, _: usize, _: &Range<usize>) {}
