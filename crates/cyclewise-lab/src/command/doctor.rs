//! `cyclewise doctor`: reports what this machine offers.

use super::output;
use crate::error::Result;
use crate::{export, machine};
use std::io::IsTerminal;
use std::path::Path;

pub(super) fn doctor(json: bool) -> Result<()> {
    let report = machine::doctor::examine();
    let text = if json {
        export::json::pretty(&report)?
    } else {
        export::doctor::table(&report, std::io::stdout().is_terminal())
    };
    output::put(Path::new("-"), &text)
}
