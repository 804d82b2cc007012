//! Whether a file is a program that the emulator can run and count, found out as the kernel finds it out: by its first bytes.
//!
//! # References
//! Linux's `fs/exec.c`, `fs/binfmt_script.c`, `fs/binfmt_elf.c`; execve(2).

use super::sys;
use std::ffi::{CString, OsStr, OsString};
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

/// `e_machine` of x86-64.
pub const EM_X86_64: u16 = 62;
/// `e_machine` of AArch64.
pub const EM_AARCH64: u16 = 183;
/// How many scripts may name each other, as the kernel counts them (`BINPRM` depth in `fs/exec.c`).
const SCRIPTS: usize = 5;
/// How much of a file the kernel looks at (`BINPRM_BUF_SIZE`).
const LOOKED_AT: usize = 256;
/// More program headers than any linker writes; the kernel refuses more than 64 KiB of them.
const HEADERS: u16 = 1024;
const PT_INTERP: u32 = 3;

/// A program as the emulator is to be called for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The ELF file.
    pub path: PathBuf,
    /// Its `argv[0]`.
    pub argv0: OsString,
    /// Arguments before the caller's own: those that a `#!` line adds.
    pub arguments: Vec<OsString>,
}

/// Why a file is not run by the emulator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// There is no such file.
    Absent,
    /// It is a directory.
    Directory,
    /// Its permissions do not let it be executed, or its file system does not.
    NotExecutable,
    /// It may be executed and not read.
    NotReadable,
    /// It is neither an ELF file nor a script.
    Format,
    /// It is a 32-bit program.
    Bits32,
    /// It is for another architecture, by `e_machine`.
    Machine(u16),
    /// It is setuid or setgid.
    SetId,
    /// It has file capabilities.
    Capabilities,
    /// The interpreter that its `#!` line names, or that one's, is not there or cannot be executed.
    Interpreter(PathBuf, Box<Self>),
    /// The dynamic linker that it names is not there.
    NoLinker(PathBuf),
    /// Scripts name each other.
    Scripts,
}

impl Obstacle {
    /// Whether the kernel would not execute the file either.
    pub fn is_the_kernels(&self) -> bool {
        match self {
            Self::Absent | Self::Directory | Self::NotExecutable | Self::Format | Self::NoLinker(_) | Self::Scripts => {
                true
            }
            Self::Interpreter(_, why) => why.is_the_kernels(),
            _ => false,
        }
    }
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => f.write_str("there is no such file"),
            Self::Directory => f.write_str("it is a directory"),
            Self::NotExecutable => f.write_str("it is not executable"),
            Self::NotReadable => f.write_str("it may be executed but not read, and the emulator has to read it"),
            Self::Format => f.write_str("it is neither an ELF program nor a script that begins with #!"),
            Self::Bits32 => f.write_str("it is a 32-bit program"),
            Self::Machine(EM_X86_64) => f.write_str("it is a program for x86-64"),
            Self::Machine(EM_AARCH64) => f.write_str("it is a program for AArch64"),
            Self::Machine(machine) => write!(f, "it is a program for another architecture (ELF machine {machine})"),
            Self::SetId => f.write_str("it is setuid or setgid, and the emulator cannot give it those rights"),
            Self::Capabilities => {
                f.write_str("it has file capabilities (see getcap), and the emulator cannot give it those rights")
            }
            Self::Interpreter(path, why) => {
                write!(f, "its #! line names {}: {why}", path.display())
            }
            Self::NoLinker(path) => write!(
                f,
                "the dynamic linker it names, {}, is not there; name the folder that has it and the libraries by --sysroot",
                path.display()
            ),
            Self::Scripts => f.write_str("its #! lines name scripts that name scripts, more than the kernel follows"),
        }
    }
}

/// What the emulator has to run for `path`, of programs for `machine` whose dynamic linkers are below `root` or here.
pub fn resolve(path: &Path, argv0: &OsStr, machine: u16, root: Option<&Path>) -> Result<Program, Obstacle> {
    let mut program = Program {
        path: path.to_owned(),
        argv0: argv0.to_owned(),
        arguments: Vec::new(),
    };
    for _ in 0..=SCRIPTS {
        let of_interpreter = |obstacle: Obstacle| match program.path == path {
            true => obstacle,
            false => Obstacle::Interpreter(program.path.clone(), Box::new(obstacle)),
        };
        let (file, start) = open(&program.path).map_err(of_interpreter)?;
        let Some((interpreter, argument)) = script(&start) else {
            elf(&file, &start, machine, root)
                .and_then(|()| rights(&file, &program.path))
                .map_err(of_interpreter)?;
            return Ok(program);
        };
        // The interpreter's own path, its argument, the script, then what came after the script's name.
        let script = std::mem::replace(&mut program.path, interpreter.clone());
        let rest = std::mem::take(&mut program.arguments);
        program.argv0 = interpreter.into_os_string();
        program.arguments = argument
            .into_iter()
            .chain([script.into_os_string()])
            .chain(rest)
            .collect();
    }
    Err(Obstacle::Scripts)
}

fn open(path: &Path) -> Result<(File, Vec<u8>), Obstacle> {
    let metadata = std::fs::metadata(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::PermissionDenied => Obstacle::NotExecutable,
        _ => Obstacle::Absent,
    })?;
    if metadata.is_dir() {
        return Err(Obstacle::Directory);
    }
    let name = CString::new(path.as_os_str().as_bytes()).map_err(|_| Obstacle::Absent)?;
    // Anything but a file is refused by the kernel, and reading it could block.
    if !metadata.is_file() || !sys::may(&name, sys::rights::EXECUTE) || !sys::file_system_executes(&name) {
        return Err(Obstacle::NotExecutable);
    }
    let file = File::open(path).map_err(|_| Obstacle::NotReadable)?;
    let mut start = Vec::new();
    (&file)
        .take(LOOKED_AT as u64)
        .read_to_end(&mut start)
        .map_err(|_| Obstacle::NotReadable)?;
    Ok((file, start))
}

/// The interpreter and its argument, where the file begins with `#!`.
fn script(start: &[u8]) -> Option<(PathBuf, Option<OsString>)> {
    let line = start.strip_prefix(b"#!")?;
    let line = line.split(|b| *b == b'\n' || *b == 0).next()?;
    let line = trimmed(line);
    let end = line.iter().position(is_blank).unwrap_or(line.len());
    let (interpreter, argument) = line.split_at(end);
    let argument = trimmed(argument);
    if interpreter.is_empty() {
        return None;
    }
    let owned = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
    Some((
        PathBuf::from(owned(interpreter)),
        (!argument.is_empty()).then(|| owned(argument)),
    ))
}

/// What the kernel takes for the end of a word: nothing else, so a carriage return is a part of one.
fn is_blank(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

fn trimmed(bytes: &[u8]) -> &[u8] {
    let start = bytes.iter().position(|b| !is_blank(b)).unwrap_or(bytes.len());
    let end = bytes.iter().rposition(|b| !is_blank(b)).map_or(start, |last| last + 1);
    &bytes[start..end]
}

fn elf(file: &File, start: &[u8], machine: u16, root: Option<&Path>) -> Result<(), Obstacle> {
    let (Some(class), Some(is_for), true) = (start.get(4), half(start, 18), start.starts_with(b"\x7fELF")) else {
        return Err(Obstacle::Format);
    };
    if *class == 1 {
        return Err(Obstacle::Bits32);
    }
    if is_for != machine {
        return Err(Obstacle::Machine(is_for));
    }
    let linker = linker(file, start).map_err(|()| Obstacle::Format)?;
    match linker {
        Some(linker) if !linker.exists() && !root.is_some_and(|root| below(root, &linker).exists()) => {
            Err(Obstacle::NoLinker(linker))
        }
        _ => Ok(()),
    }
}

fn below(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

/// The dynamic linker that a 64-bit ELF file names.
fn linker(file: &File, start: &[u8]) -> Result<Option<PathBuf>, ()> {
    let table = long(start, 32).ok_or(())?;
    let (size, count) = (half(start, 54).ok_or(())?, half(start, 56).ok_or(())?);
    for index in 0..u64::from(count.min(HEADERS)) {
        let mut header = [0; 56];
        let at = index
            .checked_mul(u64::from(size))
            .and_then(|o| table.checked_add(o))
            .ok_or(())?;
        file.read_exact_at(&mut header, at).map_err(|_| ())?;
        if header.first_chunk().map(|b| u32::from_le_bytes(*b)) != Some(PT_INTERP) {
            continue;
        }
        let (offset, len) = (long(&header, 8).ok_or(())?, long(&header, 32).ok_or(())?);
        // PATH_MAX, as the kernel has it.
        let mut name = vec![0; usize::try_from(len.min(4096)).map_err(|_| ())?];
        file.read_exact_at(&mut name, offset).map_err(|_| ())?;
        name.truncate(name.iter().position(|b| *b == 0).unwrap_or(name.len()));
        return Ok(Some(PathBuf::from(OsString::from_vec(name))));
    }
    Ok(None)
}

/// Rights that the kernel gives with the file, and the emulator cannot.
fn rights(file: &File, path: &Path) -> Result<(), Obstacle> {
    const SETUID: u32 = 0o4000;
    const SETGID: u32 = 0o2000;
    const GROUP_EXECUTES: u32 = 0o010;
    let mode = file.metadata().map_or(0, |m| m.mode());
    // Without the group's right to execute, the bit means mandatory locking.
    if mode & SETUID != 0 || mode & SETGID != 0 && mode & GROUP_EXECUTES != 0 {
        return Err(Obstacle::SetId);
    }
    let name = CString::new(path.as_os_str().as_bytes()).map_err(|_| Obstacle::Absent)?;
    if sys::has_capabilities(&name) {
        return Err(Obstacle::Capabilities);
    }
    Ok(())
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|b| u16::from_le_bytes(*b))
}

fn long(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|b| u64::from_le_bytes(*b))
}

#[cfg(test)]
mod tests {
    use super::script;
    use std::ffi::OsStr;
    use std::path::Path;

    #[test]
    fn first_lines() {
        let parts = |line: &[u8]| {
            let (interpreter, argument) = script(line)?;
            Some((
                interpreter.to_string_lossy().into_owned(),
                argument.map(|a| a.to_string_lossy().into_owned()),
            ))
        };
        let sh = |argument: Option<&str>| Some(("/bin/sh".to_owned(), argument.map(str::to_owned)));
        assert_eq!(parts(b"#!/bin/sh\necho"), sh(None));
        assert_eq!(
            parts(b"#! \t/bin/sh -e -u \n"),
            sh(Some("-e -u")),
            "one argument, as the kernel has it"
        );
        assert_eq!(parts(b"#!/bin/sh"), sh(None));
        assert_eq!(parts(b"#!\n/bin/sh"), None);
        assert_eq!(parts(b"#!/bin/sh -e\r\n"), sh(Some("-e\r")), "as the kernel has it");
        assert_eq!(parts(b"# !/bin/sh\n"), None);
        assert_eq!(parts(b"\x7fELF"), None);
    }

    #[test]
    fn a_script_is_an_argument_of_its_interpreter() {
        let this = std::env::current_exe().unwrap();
        let machine = if cfg!(target_arch = "x86_64") {
            super::EM_X86_64
        } else {
            super::EM_AARCH64
        };
        let plain = super::resolve(&this, OsStr::new("name"), machine, None).unwrap();
        assert_eq!(
            (plain.path.as_path(), plain.argv0.as_os_str()),
            (this.as_path(), OsStr::new("name"))
        );
        let other = super::resolve(&this, OsStr::new("name"), machine ^ 1, None);
        assert_eq!(other, Err(super::Obstacle::Machine(machine)));
        assert_eq!(
            super::resolve(Path::new("/"), OsStr::new(""), machine, None),
            Err(super::Obstacle::Directory)
        );
        assert_eq!(
            super::resolve(Path::new("/no/such"), OsStr::new(""), machine, None),
            Err(super::Obstacle::Absent)
        );
    }
}
