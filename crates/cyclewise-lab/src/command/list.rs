//! `cyclewise list`: lists the experiments.

use crate::error::Result;
use crate::experiment::ALL;
use crate::export;
use cyclewise_report::files::output;
use std::path::Path;

pub(super) fn list(json: bool) -> Result<()> {
    let text = if json {
        export::json::experiments(ALL)?
    } else {
        export::table::experiments(ALL, output::look(false))
    };
    output::put(Path::new("-"), &text)
}
