//! What a folder without a plan holds: shards of a sweep, or records.

use super::{file, walk::walk};
use crate::error::Result;
use crate::record::simulation;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Bytes in which a document says what it is.
const START: u64 = 4096;

/// Whether the first document of this program in the folder, by name, is of a sweep.
///
/// # Errors
/// Exit 2: the folder cannot be read.
pub(crate) fn is_sweep(dir: &Path) -> Result<bool> {
    let walked = walk(&[PathBuf::from(dir)])?;
    let known = |path: &PathBuf| {
        let mut start = Vec::new();
        file::open(path).ok()?.take(START).read_to_end(&mut start).ok()?;
        let text = String::from_utf8_lossy(&start);
        let (_, schema) = text.split_once("\"schema\"")?;
        let schema = schema.split('"').nth(1)?;
        schema.starts_with("cyclewise.").then(|| schema == simulation::SCHEMA)
    };
    Ok(walked
        .files
        .iter()
        .find_map(|found| known(&found.path))
        .unwrap_or(false))
}

#[cfg(test)]
mod tests {
    use super::is_sweep;
    use crate::files::tests::{folder, packed, record, text};

    #[test]
    fn the_first_document_that_is_known_decides() {
        let shard = br#"{"schema":"cyclewise.simulation/1","tool":{}"#;
        let record = packed(&text(&record("n1", 1)));
        let is = |files: &[(&str, &[u8])]| is_sweep(folder(files).path()).unwrap();
        assert!(is(&[
            ("a.txt", b"\"schema\": 1"),
            ("b.json", shard),
            ("c.json", &record)
        ]));
        assert!(!is(&[("a.json", &record), ("b.json", shard)]));
        assert!(!is(&[]));
    }
}
