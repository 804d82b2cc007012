//! What cargo keeps of our packages from an earlier run, and would build with again.
//!
//! To cargo a version in a registry never changes. So it unpacks `cyclewise-0.1.0` of the registry that it makes of our tarballs
//! once, below its home, and compiles that once. The packages that depend on it would be built with the sources of the first run.

use super::metadata::Package;
use std::io;
use std::path::{Path, PathBuf};

/// Removes our packages from both places. Those that they depend on stay.
pub(super) fn earlier_packages(target: &Path, ours: &[Package]) -> io::Result<()> {
    let unpacked = home().map(|home| home.join("registry/src"));
    let registries = unpacked.as_deref().map_or(Ok(Vec::new()), entries)?;
    // The name of a registry that is a folder has no host before its dash.
    for registry in registries.iter().filter(|path| name(path).starts_with('-')) {
        let packages = ours
            .iter()
            .map(|package| format!("{}-{}", package.name, package.version));
        for folder in packages
            .map(|package| registry.join(package))
            .filter(|folder| folder.is_dir())
        {
            std::fs::remove_dir_all(folder)?;
        }
    }
    for built in entries(&target.join("debug/.fingerprint"))? {
        if ours.iter().any(|package| is_of(name(&built), &package.name)) {
            std::fs::remove_dir_all(built)?;
        }
    }
    Ok(())
}

/// cargo's home.
fn home() -> Option<PathBuf> {
    let set = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    set.or_else(|| Some(std::env::home_dir()?.join(".cargo")))
}

/// Whether a fingerprint, `NAME-HASH`, is of the package.
fn is_of(fingerprint: &str, package: &str) -> bool {
    fingerprint.rsplit_once('-').is_some_and(|(name, _)| name == package)
}

fn name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or("")
}

/// What is in a folder; nothing where there is none.
fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    match std::fs::read_dir(folder) {
        Ok(entries) => entries.map(|entry| Ok(entry?.path())).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::{entries, is_of};

    #[test]
    fn a_fingerprint_is_of_the_package_with_the_whole_name() {
        assert!(is_of("cyclewise-0f1e2d3c4b5a6978", "cyclewise"));
        assert!(is_of("cyclewise-lab-0f1e2d3c4b5a6978", "cyclewise-lab"));
        assert!(!is_of("cyclewise-lab-0f1e2d3c4b5a6978", "cyclewise"));
        assert!(!is_of("libc-0f1e2d3c4b5a6978", "cyclewise"));
    }

    #[test]
    fn a_folder_that_is_not_there_is_empty() {
        let folder = tempfile::tempdir().unwrap();
        assert!(entries(&folder.path().join("none")).unwrap().is_empty());
        std::fs::write(folder.path().join("a"), "").unwrap();
        assert_eq!(entries(folder.path()).unwrap().len(), 1);
    }
}
