//! `cyclewise fleet join`.

use crate::command::cli::JoinArgs;
use crate::error::{Error, Result};

pub(super) fn join(_args: &JoinArgs) -> Result<()> {
    Err(Error::usage("fleet join"))
}
