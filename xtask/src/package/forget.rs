//! What cargo keeps of our packages from an earlier run, and would build with again.
//!
//! To cargo a version in a registry never changes. So it unpacks `cyclewise-0.1.0` of the registry that it makes of our tarballs
//! once, below its home, and compiles that once. The packages that depend on it would be built with the sources of the first run.

use std::io;
use std::path::{Path, PathBuf};

/// How the names of our packages, of their folders and of their fingerprints begin.
const OURS: &str = "cyclewise";

/// Removes our packages from both places. Those that they depend on stay.
pub(super) fn earlier_packages(target: &Path) -> io::Result<()> {
    remove_ours(&target.join("debug/.fingerprint"))?;
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    if let Some(home) = home.or_else(|| Some(std::env::home_dir()?.join(".cargo"))) {
        // The name of a registry that is a folder has no host before its dash.
        for registry in entries(&home.join("registry/src"), "-")? {
            remove_ours(&registry)?;
        }
    }
    Ok(())
}

fn remove_ours(folder: &Path) -> io::Result<()> {
    entries(folder, OURS)?.iter().try_for_each(std::fs::remove_dir_all)
}

/// What is in a folder under names that begin so; nothing where there is no folder.
fn entries(folder: &Path, start: &str) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    match std::fs::read_dir(folder) {
        Ok(entries) => {
            for entry in entries {
                let entry = entry?;
                if entry.file_name().to_string_lossy().starts_with(start) {
                    found.push(entry.path());
                }
            }
            Ok(found)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(found),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::remove_ours;

    #[test]
    fn what_was_built_of_ours_goes_and_the_rest_stays() {
        let folder = tempfile::tempdir().unwrap();
        remove_ours(&folder.path().join("none")).unwrap();
        let names = ["cyclewise-lab-0f1e2d3c4b5a6978", "libc-0f1e2d3c4b5a6978"];
        let [ours, other] = names.map(|name| folder.path().join(name));
        for folder in [&ours, &other] {
            std::fs::create_dir_all(folder).unwrap();
        }
        remove_ours(folder.path()).unwrap();
        assert!(!ours.exists() && other.exists());
    }
}
