//! `cyclewise fleet plan`.

use crate::command::cli::PlanArgs;
use crate::error::{Error, Result};

pub(super) fn plan(_args: &PlanArgs) -> Result<()> {
    Err(Error::usage("fleet plan"))
}
