//! Writes a document to a file so that the name always has a whole one: the old or the new, whenever the program is killed or
//! the disk fills.
//!
//! The text goes to a new file in the same folder, which is synced and renamed over the old one. A name that ends in `.gz`
//! gets the text in gzip's format, except from a benchmark program, which refuses it; equal texts give equal bytes.
//!
//! # Invariants
//! 1. A regular file is replaced only by a whole one. The new file has the old one's owner, group and mode.
//! 2. What a rename would change is written in place, as before there was this module: pipes and devices, `/dev/stdout` and
//!    what else is below /proc, files with several names, and files whose owner or folder does not let us replace them. There
//!    a failure may leave a part of the text, and the error says so.
//! 3. A link stays, and its target is replaced.
//! 4. After a failure the new file is gone. A kill leaves it behind: `.cyclewise-PID-N.tmp`, which nothing reads.

use crate::error::{Error, Result};
use crate::sys::file_size;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, fchown};
use std::path::{Path, PathBuf};

/// Links that are followed from one name; the kernel follows as many (`MAXSYMLINKS`).
const MOST_LINKS: usize = 40;

/// Writes the content of a document to where it is told.
pub type Fill<'a> = &'a dyn Fn(&mut dyn Write) -> io::Result<()>;

/// Writes `text` to `path`.
///
/// # Errors
/// Exit 3: the disk or a limit is full. Exit 2: the file cannot be written. The message says whether the old file is there.
pub fn write(path: &Path, text: &str) -> Result<()> {
    write_with(path, &|out| out.write_all(text.as_bytes()))
}

/// As [`write()`], for a document that is too large for memory. `fill` may be called twice: where the new file cannot replace the
/// old one, it is written again, in place.
pub fn write_with(path: &Path, fill: Fill<'_>) -> Result<()> {
    file_size::refuse_beyond_limit();
    write_filled(path, fill).map_err(|failure| failure.explain(path))
}

/// Why a file was not written.
struct Failure {
    error: io::Error,
    /// Whether a part of the text may be in it.
    torn: bool,
}

impl Failure {
    fn explain(&self, path: &Path) -> Error {
        if let Some(error) = self.error.get_ref().and_then(|e| e.downcast_ref::<Error>()) {
            return error.clone();
        }
        let (hint, is_full) = match self.error.raw_os_error() {
            Some(libc::ENOSPC) => ("free space there, or name a file on another disk", true),
            Some(libc::EDQUOT) => ("free some of your quota there, or name a file on another disk", true),
            Some(libc::EFBIG) => ("raise `ulimit -f`, or name a file that ends in .gz", true),
            _ => ("name a file that can be written", false),
        };
        // An empty file has nothing to lose; `run` takes its new names by one.
        let had_content = path.metadata().is_ok_and(|m| m.is_file() && m.len() > 0);
        let state = match (self.torn, had_content) {
            (true, _) => "; what was written is not whole",
            (false, true) => "; the file that was there is unchanged",
            (false, false) => "",
        };
        let message = format!("writing {}: {}; {hint}{state}", path.display(), self.error);
        match is_full {
            true => Error {
                possible: true,
                ..Error::unsupported(message)
            },
            false => Error::usage(message),
        }
        .in_one_line()
    }
}

/// Fills `file` with what `fill` writes, compressed if the name asks for it.
fn content(path: &Path, file: &File, fill: Fill<'_>) -> io::Result<()> {
    let mut out = BufWriter::new(file);
    match asks_for_gzip(path) {
        false => fill(&mut out)?,
        true => packed(&mut out, fill)?,
    }
    out.flush()
}

fn asks_for_gzip(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "gz")
}

#[cfg(feature = "commands")]
fn packed(out: &mut dyn Write, fill: Fill<'_>) -> io::Result<()> {
    // No time and no name: the same text gives the same bytes.
    let mut packer = flate2::GzBuilder::new()
        .mtime(0)
        .write(out, flate2::Compression::default());
    fill(&mut packer)?;
    packer.finish().map(drop)
}

#[cfg(not(feature = "commands"))]
fn packed(_: &mut dyn Write, _: Fill<'_>) -> io::Result<()> {
    let why = "benchmark programs write no .gz";
    Err(io::Error::new(ErrorKind::Unsupported, why))
}

fn write_filled(path: &Path, fill: Fill<'_>) -> std::result::Result<(), Failure> {
    let whole = |error| Failure { error, torn: false };
    if let Some(target) = replaceable(path)
        && let Some(staged) = Staged::create(&target).map_err(whole)?
    {
        content(path, &staged.file, fill)
            .and_then(|()| staged.file.sync_all())
            .map_err(whole)?;
        if staged.replace().map_err(whole)? {
            return Ok(());
        }
    }
    let torn = |error| Failure { error, torn: true };
    let file = File::create(path).map_err(whole)?;
    content(path, &file, fill).map_err(torn)
}

/// The file that a rename may replace, behind the links of `path`; `None` if it must be written in place (Invariant 2).
fn replaceable(path: &Path) -> Option<PathBuf> {
    let mut path = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        let folder = fs::canonicalize(folder(&path)).ok()?;
        path = folder.join(path.file_name()?);
        // Links there are to open files, which shall stay the same files.
        if path.starts_with("/proc") {
            return None;
        }
        match fs::symlink_metadata(&path) {
            Ok(found) if found.is_symlink() => path = folder.join(fs::read_link(&path).ok()?),
            // No name is left of a file that another process replaced since the kernel looked it up.
            Ok(found) => return (found.is_file() && found.nlink() <= 1 && is_writable(&path)).then_some(path),
            Err(e) => return (e.kind() == ErrorKind::NotFound).then_some(path),
        }
    }
    None
}

/// Whether the file may be written: a rename would replace one that its owner made read-only.
fn is_writable(path: &Path) -> bool {
    !OpenOptions::new()
        .append(true)
        .open(path)
        .is_err_and(|e| e.kind() == ErrorKind::PermissionDenied)
}

/// Whether a file can be made in the folder of `path`: makes one of another name, and removes it.
pub fn try_beside(path: &Path) -> io::Result<()> {
    if cfg!(not(feature = "commands")) && asks_for_gzip(path) {
        packed(&mut io::sink(), &|_| Ok(()))?;
    }
    let (_, made) = Staged::new_file(path)?;
    fs::remove_file(made)
}

pub fn folder(path: &Path) -> &Path {
    path.parent()
        .filter(|p| !p.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

/// A new file beside its target, which it will replace. Dropped before that, it is removed.
struct Staged<'a> {
    file: File,
    path: PathBuf,
    target: &'a Path,
    /// Whether the name is no more ours: in a shared folder another process of our number may have taken it.
    renamed: bool,
}

impl<'a> Staged<'a> {
    /// Makes the file, with the owner and mode of the target; `None` if that is not allowed here.
    fn create(target: &'a Path) -> io::Result<Option<Self>> {
        let old = fs::metadata(target).ok();
        let staged = match Self::new_file(target) {
            Ok((file, path)) => Self {
                file,
                path,
                target,
                renamed: false,
            },
            Err(e) if is_refusal(&e) => return Ok(None),
            Err(e) => return Err(e),
        };
        match old.map_or(Ok(()), |old| staged.take_after(&old)) {
            Ok(()) => Ok(Some(staged)),
            Err(e) if is_refusal(&e) => Ok(None),
            Err(e) => Err(e),
        }
    }

    fn new_file(target: &Path) -> io::Result<(File, PathBuf)> {
        let pid = std::process::id();
        let mut n = 0;
        loop {
            // Another node of a shared folder may have a process of this number.
            let path = folder(target).join(format!(".cyclewise-{pid}-{n}.tmp"));
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => return Ok((file, path)),
                Err(e) if e.kind() == ErrorKind::AlreadyExists && n < 10_000 => n += 1,
                Err(e) => return Err(e),
            }
        }
    }

    /// Gives the file the owner, group and mode of the `old` one.
    fn take_after(&self, old: &Metadata) -> io::Result<()> {
        let new = self.file.metadata()?;
        if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
            fchown(&self.file, Some(old.uid()), Some(old.gid()))?;
        }
        self.file.set_permissions(old.permissions())
    }

    /// Renames the file over its target; false if that is not allowed here.
    fn replace(mut self) -> io::Result<bool> {
        match fs::rename(&self.path, self.target) {
            Ok(()) => self.renamed = true,
            // The target alone is mounted here, or another's in a folder such as /tmp.
            Err(e) if is_refusal(&e) || e.kind() == ErrorKind::ResourceBusy => return Ok(false),
            Err(e) => return Err(e),
        }
        // The name is there for all programs now; some file systems cannot sync a folder.
        let _ = File::open(folder(self.target)).and_then(|folder| folder.sync_all());
        Ok(true)
    }
}

impl Drop for Staged<'_> {
    fn drop(&mut self) {
        if !self.renamed {
            // Nothing more can be done where this fails.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Whether we may not do this here, and writing in place may be allowed.
fn is_refusal(e: &io::Error) -> bool {
    matches!(e.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)
}

#[cfg(test)]
mod tests;
