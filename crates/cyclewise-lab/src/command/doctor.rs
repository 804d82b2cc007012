//! `cyclewise doctor`: reports what this machine offers.

use super::anonymous;
use crate::error::Result;
use crate::{export, machine};
use cyclewise_report::files::output;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

pub(super) fn doctor(json: bool, key: Option<&PathBuf>) -> Result<()> {
    let report = machine::doctor::examine(anonymous::key(key)?.as_ref());
    let text = if json {
        export::json::pretty(&report)?
    } else {
        export::doctor::table(&report, output::look(false), std::io::stdout().is_terminal())
    };
    output::put(Path::new("-"), &text)
}
