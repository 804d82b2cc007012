//! `cyclewise list`: lists the experiments.

use crate::error::Result;
use crate::experiment::select;
use crate::export;
use cyclewise_report::files::output;
use std::path::Path;

pub(super) fn list(names: &[String], json: bool) -> Result<()> {
    let chosen = select(names)?;
    let text = if json {
        export::json::experiments(&chosen)?
    } else {
        export::table::experiments(&chosen, !names.is_empty(), output::look(false))
    };
    output::put(Path::new("-"), &text)
}
