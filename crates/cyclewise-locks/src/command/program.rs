//! The program that is counted: found as a shell finds it, and refused in one line where it cannot be started.

use crate::error::{Error, Result};
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A program that is there, and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Program {
    pub(super) named: OsString,
    pub(super) path: PathBuf,
    pub(super) arguments: Vec<OsString>,
}

impl Program {
    /// Finds the program of a command line.
    ///
    /// # Errors
    /// Exit 2: there is none of the name, or it cannot be executed.
    pub(super) fn find(line: &[OsString]) -> Result<Self> {
        let folders = std::env::var_os("PATH").unwrap_or_default();
        Self::find_in(line, &std::env::split_paths(&folders).collect::<Vec<_>>())
    }

    fn find_in(line: &[OsString], folders: &[PathBuf]) -> Result<Self> {
        let Some((named, arguments)) = line.split_first() else {
            return Err(Error::usage("no program is named; name one after `--`"));
        };
        let refused = |why: &str| Err(Error::usage(format!("{}: {why}", named.display())).in_one_line());
        let found = |path: PathBuf| Self {
            named: named.clone(),
            path,
            arguments: arguments.to_vec(),
        };
        if named.is_empty() {
            return refused("the program's name is empty; name one after `--`");
        }
        // A name with a slash is a path, as for a shell.
        if named.as_encoded_bytes().contains(&b'/') {
            let path = Path::new(named);
            return match path.metadata() {
                Err(e) => refused(&format!("{e}; name a program that is there")),
                Ok(m) if m.is_dir() => refused("is a folder; name a program in it"),
                Ok(m) if m.permissions().mode() & 0o111 == 0 => {
                    refused("is not executable; make it so by chmod +x, or name its interpreter first")
                }
                Ok(_) => Ok(found(path.to_path_buf())),
            };
        }
        let candidates = || folders.iter().map(|folder| folder.join(named));
        match candidates().find(|path| is_executable(path)) {
            Some(path) => Ok(found(path)),
            None if Path::new(named).is_file() => refused(&format!(
                "there is no such program in PATH; ./{} is here",
                named.display()
            )),
            None => refused("there is no such program in PATH; check its name, or give its path"),
        }
    }

    /// The program's name without folders.
    pub(super) fn name(&self) -> String {
        let name = self.path.file_name().unwrap_or(self.path.as_os_str());
        name.to_string_lossy().replace(cyclewise_bench::error::is_control, " ")
    }
}

/// Whether it is a file with a permission to execute it.
fn is_executable(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(words: &[&str]) -> Vec<OsString> {
        words.iter().map(OsString::from).collect()
    }

    #[test]
    fn a_program_is_found_as_a_shell_finds_it() {
        let folder = tempfile::tempdir().unwrap();
        let tool = folder.path().join("tool");
        std::fs::write(&tool, "#!/bin/sh\n").unwrap();
        let folders = [PathBuf::from("/no/such/folder"), folder.path().to_path_buf()];
        let find = |words: &[&str]| Program::find_in(&line(words), &folders);
        let error = |words: &[&str]| find(words).unwrap_err().message;
        assert!(error(&["tool"]).contains("no such program in PATH"));
        let path = tool.to_str().unwrap();
        assert!(error(&[path]).contains("chmod +x"));
        std::fs::set_permissions(&tool, std::fs::Permissions::from_mode(0o755)).unwrap();
        let found = find(&["tool", "--flag", "a b"]).unwrap();
        assert_eq!(
            (found.path.as_path(), found.arguments),
            (tool.as_path(), line(&["--flag", "a b"]))
        );
        assert_eq!(find(&[path]).unwrap().name(), "tool");
        assert!(error(&["/no/such/tool"]).contains("No such file"));
        assert!(error(&[folder.path().to_str().unwrap()]).contains("is a folder"));
        assert!(error(&[""]).contains("is empty"));
        assert!(!error(&["new\nline"]).contains('\n'));
    }
}
