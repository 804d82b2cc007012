//! `cyclewise fleet names`: the names that nodes have in anonymous records, for who has the key.

use crate::error::Result;
use crate::machine::Key;
use cyclewise_report::files::output;
use std::path::Path;

pub(super) fn names(key: &Path, names: &[String]) -> Result<()> {
    let key = Key::load(key)?;
    let lines: Vec<String> = names.iter().map(|name| key.name(name) + "\n").collect();
    output::put(Path::new("-"), &lines.concat())
}
