//! The files of a folder that may be shards.

use crate::error::{Error, Result};
use crate::export::job;
use std::path::{Path, PathBuf};

/// What `fleet join` writes itself, besides the files of a job.
const JOINED: [&str; 4] = ["joined.json", "joined.json.gz", "fleet.jsonl", "fleet.jsonl.gz"];

/// The folder of the shards that a job writes.
const SHARDS: &str = "shards";

/// What is in `dir`, without folders, and in its folder of shards, without the files of the plan, in the order of their names. Not
/// all of it is a file that can be read.
///
/// # Errors
/// Exit 2: a folder cannot be read.
pub(crate) fn files(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for folder in [dir.to_owned(), dir.join(SHARDS)] {
        if folder != dir && !folder.is_dir() {
            continue;
        }
        let failed = |e: std::io::Error| {
            Error::usage(format!(
                "{}: {e}; give the folder of `fleet plan --into`, or one with files of `simulate --shard`",
                folder.display()
            ))
            .in_one_line()
        };
        for entry in std::fs::read_dir(&folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let is_ours = || {
                folder == dir
                    && path
                        .file_name()
                        .is_some_and(|n| job::FILES.iter().chain(&JOINED).any(|ours| n == *ours))
            };
            // A plan's folder has folders of other files; a shard's place has none.
            let is_other_folder = || folder == dir && path.is_dir();
            if !is_ours() && !is_other_folder() {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Whether a document of this name is being written, or was when its task ended.
pub(crate) fn is_temporary(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    name.starts_with(b".cyclewise-") && name.ends_with(b".tmp")
}
