//! The counterpart where nobody lists link units: there is no coordinator.

use crate::error::Refusal;
use crate::patch::Mode;
use crate::patch::unit::Unit;

pub(in crate::patch) fn register(_: &Unit) -> Result<bool, Refusal> {
    Ok(false)
}

/// No mode, no units and none seen.
pub(in crate::patch) fn shared() -> (Mode, [usize; 3], [usize; 2]) {
    (Mode::Locked, [0; 3], [0; 2])
}
