//! What `cyclewise planned-run` tells `fleet plan` of a command: its options that name files, and the files' names.

use crate::error::{Error, Result};
use std::path::Path;

/// The JSON.
///
/// # Errors
/// Exit 2: a name is not UTF-8.
pub fn to_text(files: &[(&str, &Path)]) -> Result<String> {
    serde_json::to_string(files).map_err(|e| Error::usage(e.to_string()))
}

/// Reads what `program` wrote.
///
/// # Errors
/// Exit 3: it is of another version.
pub fn from_text(program: &Path, text: &[u8]) -> Result<Vec<(String, String)>> {
    serde_json::from_slice(text).map_err(|e| {
        let why = "install cyclewise-fleet and cyclewise-lab of one version";
        Error::unsupported(format!("{} planned-run: {e}; {why}", program.display())).in_one_line()
    })
}
