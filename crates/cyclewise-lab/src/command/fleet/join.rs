//! `cyclewise fleet join`.

mod sweep;

use crate::command::cli::JoinArgs;
use crate::error::{Error, Result};
use crate::record::plan::{self, FILE, Plan, Work};
use std::io::ErrorKind;
use std::path::Path;

pub(super) fn join(args: &JoinArgs) -> Result<()> {
    let plan = read_plan(&args.dir)?;
    match plan.as_ref().map(|p| &p.work) {
        // Replaced when the records' half lands.
        Some(Work::Records { .. }) => Err(Error::usage("fleet join: this build joins sweeps only")),
        Some(Work::Sweep { .. }) | None => sweep::join(args, plan.as_ref()),
    }
}

/// The folder's plan; `None` if it has none.
fn read_plan(dir: &Path) -> Result<Option<Plan>> {
    let path = dir.join(FILE);
    let name = path.display();
    match std::fs::read_to_string(&path) {
        Ok(text) => plan::from_str(&name.to_string(), &text).map(Some),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        Err(e) => Err(Error::usage(format!("{name}: {e}; give a folder that can be read")).in_one_line()),
    }
}
