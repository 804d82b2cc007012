//! The counterpart where no text is written: the compiled code is the default.

use crate::error::Refusal;

pub(super) fn apply() -> Result<(), Refusal> {
    Ok(())
}
