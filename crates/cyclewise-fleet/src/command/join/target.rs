//! Where a joined document may go: not over what it is joined from.

use crate::command::planned::KEY;
use crate::error::{Error, Result};
use crate::export::job;
use crate::files;
use cyclewise_report::files::output;
use std::path::{Path, PathBuf};

/// Folders of a plan, in which only its tasks write.
const FOLDERS: [&str; 6] = ["shards", "records", "doctor", "nodes", "logs", "machines"];

/// Rejects a target that cannot be written, that belongs to the plan, or that is one of the files to join. `is_own` knows an earlier
/// output.
///
/// # Errors
/// Exit 2, before anything is read.
pub(super) fn check(dir: &Path, target: &Path, is_own: &dyn Fn(&Path) -> bool) -> Result<()> {
    if target == Path::new("-") || !dir.is_dir() {
        return Ok(());
    }
    output::check_named(&[("--json", &Some(target.to_owned()))], &[])?;
    if let Some(part) = part_of_plan(dir, &output::resolve(target)) {
        return Err(Error::usage(format!(
            "--json {}: this is {part}, which would be overwritten or read as a result; name another file",
            target.display()
        ))
        .in_one_line());
    }
    files::input::refuse(target, &[dir.to_owned()], is_own)
}

/// What of the plan in `dir` a file is.
fn part_of_plan(dir: &Path, target: &Path) -> Option<String> {
    let inside = |folder: &&&str| target.starts_with(output::resolve(&dir.join(folder)));
    if let Some(folder) = FOLDERS.iter().find(inside) {
        return Some(format!("in the plan's folder {folder}"));
    }
    let is = |name: &&&str| output::resolve(&dir.join(name)) == *target;
    let file = job::FILES.iter().chain([&KEY]).find(is)?;
    Some(format!("the plan's own file {file}"))
}

/// The target that the command line names, or the one of this name in the folder.
pub(super) fn named(json: Option<&PathBuf>, dir: &Path, name: &str) -> PathBuf {
    json.cloned().unwrap_or_else(|| dir.join(name))
}
