//! Whether a file that a command is about to write is one that it reads.

use super::{file, walk::walk};
use crate::error::{Error, Result};
use crate::record::fleet::lines;
use crate::record::simulation::PointReader;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Whether a file is one that `fleet join` wrote of records.
pub(crate) fn is_joined(path: &Path) -> bool {
    file::open(path).is_ok_and(|bytes| lines::is_fleet(bytes.buffer()))
}

/// Whether a file is a whole sweep.
pub(crate) fn is_whole_sweep(path: &Path) -> bool {
    file::open(path).is_ok_and(|bytes| PointReader::new(bytes).is_ok_and(|r| r.head().shard.is_none()))
}

/// Whether a file is no document that is read here: a report of a fleet, or a page or table of one.
pub(crate) fn is_report(path: &Path) -> bool {
    const START: &[u8] = br#"{"schema":"cyclewise.fleet-report/"#;
    file::open(path).is_ok_and(|bytes| {
        let text = bytes.buffer().trim_ascii_start();
        !text.starts_with(b"{") || text.starts_with(START)
    })
}

/// Rejects a `target` that is a file of the sources, by any of its names. An earlier output of the same command
/// is replaced as ever.
///
/// # Errors
/// Exit 2: it is, or a source cannot be read.
pub(crate) fn refuse(target: &Path, sources: &[PathBuf], is_own: &dyn Fn(&Path) -> bool) -> Result<()> {
    let Ok(there) = fs::metadata(target) else {
        return Ok(());
    };
    if !there.is_file() || there.len() == 0 || is_own(target) {
        return Ok(());
    }
    let same = |path: &Path| fs::metadata(path).is_ok_and(|m| (m.dev(), m.ino()) == (there.dev(), there.ino()));
    match walk(sources)?.files.iter().find(|found| same(&found.path)) {
        None => Ok(()),
        Some(found) => Err(Error::usage(format!(
            "{}: this is an input file ({}) and would be overwritten; name another file",
            target.display(),
            found.name
        ))
        .in_one_line()),
    }
}
