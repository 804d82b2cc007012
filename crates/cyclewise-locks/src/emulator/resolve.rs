//! The file that runs when a program is named as one would in a shell.

use super::program::{self, EM_AARCH64, EM_X86_64, Obstacle, Program};
use crate::counts::Arch;
use crate::error::{Error, Result};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The ELF file that runs when `program` is started, `#!` lines followed; or in one line why it cannot be run and counted.
pub fn check_program(program: &OsStr, arch: Arch, interpreter_root: Option<&Path>) -> Result<PathBuf> {
    resolve(program, arch, interpreter_root).map(|program| program.path)
}

/// What the emulator has to run for `program`.
pub(super) fn resolve(program: &OsStr, arch: Arch, root: Option<&Path>) -> Result<Program> {
    let machine = match arch {
        Arch::X86_64 => EM_X86_64,
        Arch::Aarch64 => EM_AARCH64,
    };
    let try_path = |path: &Path| program::resolve(path, program, machine, root);
    let refused = |obstacle: Obstacle| Error::usage(format!("cannot count {}: {obstacle}", program.display()));
    if program.as_bytes().contains(&b'/') {
        return try_path(Path::new(program)).map_err(refused);
    }
    // As execvp(3): the first file that may be executed; one that may not is remembered.
    let mut obstacle = Obstacle::Absent;
    let path = std::env::var_os("PATH").unwrap_or_default();
    for folder in std::env::split_paths(&path).filter(|_| !program.is_empty()) {
        match try_path(&folder.join(program)) {
            Err(Obstacle::Absent | Obstacle::Directory) => {}
            Err(Obstacle::NotExecutable) => obstacle = Obstacle::NotExecutable,
            other => return other.map_err(refused),
        }
    }
    Err(match obstacle {
        Obstacle::Absent => Error::usage(format!("cannot count {}: no such program in PATH", program.display())),
        other => refused(other),
    })
}
