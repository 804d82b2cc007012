//! `cyclewise fleet report`.

use crate::command::cli::FleetReportArgs;
use crate::error::{Error, Result};

pub(super) fn report(_args: &FleetReportArgs) -> Result<()> {
    Err(Error::usage("fleet report"))
}
