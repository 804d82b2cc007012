//! Whether this machine can count by an emulator: qemu's user-mode program for its own architecture, with plugins.
//!
//! That qemu takes plugins is in its own help, since it is a choice of whoever built it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Emulator {
    pub name: String,
    pub program: Option<PathBuf>,
    /// Its version, the first line of what it says.
    pub version: Option<String>,
    /// It takes plugins.
    pub plugins: bool,
}

/// Looks in the folders of `path`, as PATH has them.
pub fn find(arch: &str, path: &str) -> Emulator {
    let name = format!("qemu-{arch}");
    let program = std::env::split_paths(path)
        .map(|folder| folder.join(&name))
        .find(|file| is_program(file));
    let Some(file) = program else {
        return Emulator {
            name,
            ..Emulator::default()
        };
    };
    let version = output(&file, "--version").and_then(|text| text.lines().next().map(printable));
    let plugins = output(&file, "-h").is_some_and(|text| text.lines().any(|l| l.trim_start().starts_with("-plugin")));
    Emulator {
        name,
        program: Some(file),
        version,
        plugins,
    }
}

fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata()
        .is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

/// What a program prints, whatever its status.
fn output(program: &Path, argument: &str) -> Option<String> {
    let done = Command::new(program).arg(argument).stdin(Stdio::null()).output().ok()?;
    Some(String::from_utf8_lossy(&done.stdout).into_owned())
}

fn printable(line: &str) -> String {
    line.replace(crate::error::is_control, " ").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    fn folder(script: &str, mode: u32) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("qemu-x86_64");
        fs::write(&file, script).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        folder
    }

    const SCRIPT: &str = "#!/bin/sh\ncase $1 in --version) echo 'qemu-x86_64 version 7.2.22'; echo more;; -h) echo '-plugin  QEMU_PLUGIN';; esac\n";

    #[test]
    fn the_first_program_of_the_path_is_asked() {
        let [not, yes] = [folder(SCRIPT, 0o644), folder(SCRIPT, 0o755)];
        let path = std::env::join_paths([Path::new("/does/not/exist"), not.path(), yes.path()]).unwrap();
        let found = find("x86_64", path.to_str().unwrap());
        assert_eq!(found.program, Some(yes.path().join("qemu-x86_64")));
        assert_eq!(found.version.as_deref(), Some("qemu-x86_64 version 7.2.22"));
        assert!(found.plugins);
    }

    #[test]
    fn one_that_was_built_without_plugins_and_none_at_all_are_told_apart() {
        let without = folder("#!/bin/sh\necho 'qemu-x86_64 version 9.0.0'\n", 0o755);
        let found = find("x86_64", without.path().to_str().unwrap());
        assert!(found.program.is_some() && !found.plugins, "{found:?}");
        let none = find("aarch64", without.path().to_str().unwrap());
        assert_eq!((none.program, none.name.as_str()), (None, "qemu-aarch64"));
    }
}
