//! Where programs are: the others of this project beside the one that runs, or in PATH, as cargo and git look for theirs.

use crate::error::{Error, Result};
use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Where the program is that `package` has.
///
/// # Errors
/// Exit 3: it is nowhere; the line says how to get it.
pub fn find(program: &str, package: &str) -> Result<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    find_beside(program, package, env::current_exe().ok().as_deref(), &path)
}

/// The file that a shell would execute under this name; `None` if there is none.
pub fn in_path(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let mut files: Vec<PathBuf> = env::split_paths(&path).map(|folder| folder.join(name)).collect();
    if name.contains('/') {
        files = vec![name.into()];
    }
    files.into_iter().find(|file| file.is_file())
}

/// The program's file: beside `this` program, or in a folder of `path`.
fn find_beside(program: &str, package: &str, this: Option<&Path>, path: &OsStr) -> Result<PathBuf> {
    let beside = this.and_then(Path::parent).map(Path::to_owned);
    let folders = beside.into_iter().chain(env::split_paths(path));
    let mut files = folders.map(|folder| folder.join(program));
    files.find(|file| file.is_file()).ok_or_else(|| {
        Error::unsupported(format!(
            "{program} is neither beside this program nor in PATH; build it with `cargo build --release -p {package}`, \
             or install it with `cargo install --path crates/{package}`"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Status;
    use std::os::unix::fs::symlink;

    #[test]
    fn the_program_beside_this_one_comes_before_those_in_path() {
        let folder = tempfile::tempdir().unwrap();
        let [beside, first, second] = ["beside", "first", "second"].map(|name| {
            let path = folder.path().join(name);
            std::fs::create_dir(&path).unwrap();
            path
        });
        let path = env::join_paths([&first, &second]).unwrap();
        let this = beside.join("cyclewise");
        let found = || find_beside("program", "package", Some(&this), &path);

        let missing = found().unwrap_err();
        assert_eq!(missing.status, Status::Unsupported);
        assert_says!(missing.message, "cargo build --release -p package");
        // What only has the name is no program.
        std::fs::create_dir(first.join("program")).unwrap();
        symlink("/nowhere", beside.join("program")).unwrap();
        assert_eq!(found().unwrap_err(), missing);

        std::fs::write(second.join("program"), "").unwrap();
        assert_eq!(found().unwrap(), second.join("program"));
        std::fs::remove_file(beside.join("program")).unwrap();
        std::fs::write(beside.join("program"), "").unwrap();
        assert_eq!(found().unwrap(), beside.join("program"));
        // The twin: without this program's own folder, PATH decides.
        assert_eq!(
            find_beside("program", "package", None, &path).unwrap(),
            second.join("program")
        );
    }
}
