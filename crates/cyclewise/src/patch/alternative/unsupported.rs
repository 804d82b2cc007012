//! The twin where no text is written: the compiled code is the default.

use crate::error::Refusal;

/// Nothing to do.
pub(super) fn apply() -> Result<(), Refusal> {
    Ok(())
}
