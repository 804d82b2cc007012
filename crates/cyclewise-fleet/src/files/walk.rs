//! Finds the files of a fleet.
//!
//! Folders are walked however deep, but for hidden ones. Links to files are files; links to folders are not followed, so there are no loops. What is
//! neither is named and never opened, because reading a FIFO or a device may not end.

use super::name;
use crate::error::{Error, Result};
use crate::record::fleet::{Fault, Problem, ProblemKind};
use crate::record::plan;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use walkdir::{DirEntry, WalkDir};

/// What `fleet join` writes into its folder unless it is told another name.
const OUTPUTS: [&str; 4] = ["fleet.jsonl", "fleet.jsonl.gz", "joined.json", "joined.json.gz"];

/// A file to read.
pub(super) struct FoundFile {
    pub(super) path: PathBuf,
    /// Its name below the folder, by which it is sorted and reported.
    pub(super) name: String,
    /// Whether the user named it, instead of its folder.
    pub(super) named: bool,
    pub(super) source: usize,
    /// Whether it has the name of a source's own joined file.
    pub(super) is_output: bool,
}

/// What is in the sources.
#[derive(Default)]
pub(super) struct Walked {
    /// Sorted by name.
    pub(super) files: Vec<FoundFile>,
    pub(super) problems: Vec<Problem>,
}

/// The files of all sources. Of several sources, names begin with the source's.
///
/// # Errors
/// Exit 2: a source does not exist or cannot be read.
pub(super) fn walk(sources: &[PathBuf]) -> Result<Walked> {
    let mut walked = Walked::default();
    for (n, source) in sources.iter().enumerate() {
        let kind = fs::metadata(source).map_err(|e| {
            let what = format!("{}: {e}; give a folder of records, or records", source.display());
            Error::usage(what).in_one_line()
        })?;
        if kind.is_dir() {
            let prefix = if sources.len() > 1 {
                source.as_path()
            } else {
                Path::new("")
            };
            walk_folder((n, source), prefix, &mut walked)?;
        } else if kind.is_file() {
            walked.files.push(FoundFile {
                path: source.clone(),
                name: name::clean(source),
                named: true,
                source: n,
                is_output: false,
            });
        } else {
            let what = format!(
                "{} is neither a folder nor a file; give a folder of records, or records",
                source.display()
            );
            return Err(Error::usage(what).in_one_line());
        }
    }
    walked.files.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(walked)
}

fn walk_folder((source, folder): (usize, &Path), prefix: &Path, walked: &mut Walked) -> Result<()> {
    let is_planned = folder.join(plan::FILE).is_file();
    let entries = WalkDir::new(folder).min_depth(1).into_iter();
    for entry in entries.filter_entry(|e| !(is_hidden_folder(e) || is_planned && is_of_plan(e))) {
        let entry = match entry {
            Ok(entry) => entry,
            // The folder itself: nothing can be said of it.
            Err(e) if e.depth() == 0 => {
                let what = format!("{e}; give a folder that can be read");
                return Err(Error::usage(what).in_one_line());
            }
            Err(e) => {
                let path = e.path().unwrap_or(folder);
                let cause = e.io_error().map_or_else(|| e.to_string(), ToString::to_string);
                walked.problem(
                    &below(path, folder, prefix),
                    ProblemKind::Torn,
                    &format!("cannot be read: {cause}"),
                );
                continue;
            }
        };
        let name = below(entry.path(), folder, prefix);
        match kind(&entry) {
            Ok(()) if is_hidden(&entry) => {
                let why = "is hidden, as what was being written when its program was ended";
                walked.problem(&name, ProblemKind::Foreign, why);
            }
            Ok(()) => walked.files.push(FoundFile {
                is_output: entry.depth() == 1 && OUTPUTS.iter().any(|name| entry.file_name() == *name),
                path: entry.into_path(),
                name,
                named: false,
                source,
            }),
            Err("a folder") => {}
            Err(other) => walked.problem(&name, ProblemKind::Foreign, &format!("is {other}, not a file")),
        }
    }
    Ok(())
}

impl Walked {
    fn problem(&mut self, name: &str, kind: ProblemKind, why: &str) {
        self.problems.push(Fault(kind, why.to_owned()).in_file(name));
    }
}

/// The name of a path below its folder.
fn below(path: &Path, folder: &Path, prefix: &Path) -> String {
    name::clean(&prefix.join(path.strip_prefix(folder).unwrap_or(path)))
}

/// `Ok` of a file, and of a link to one; else what it is.
fn kind(entry: &DirEntry) -> std::result::Result<(), &'static str> {
    let kind = entry.file_type();
    if kind.is_file() {
        return Ok(());
    }
    if kind.is_dir() {
        return Err("a folder");
    }
    if !kind.is_symlink() {
        return Err("a device, a socket or a FIFO");
    }
    match fs::metadata(entry.path()) {
        Ok(to) if to.is_file() => Ok(()),
        Ok(to) if to.is_dir() => Err("a link to a folder, which is not followed"),
        Ok(_) => Err("a link to a device, a socket or a FIFO"),
        Err(_) => Err("a link to nothing"),
    }
}

fn is_hidden(entry: &DirEntry) -> bool {
    entry.file_name().as_encoded_bytes().starts_with(b".")
}

/// Snapshots of file systems and histories of programs, which hold the same files again.
fn is_hidden_folder(entry: &DirEntry) -> bool {
    entry.depth() > 0 && entry.file_type().is_dir() && is_hidden(entry)
}

/// Whether an entry is one that a plan's job writes beside its results.
fn is_of_plan(entry: &DirEntry) -> bool {
    let name = entry.file_name();
    let is_script = || Path::new(name).extension() == Some(OsStr::new("sbatch"));
    let is = |names: &[&str]| names.iter().any(|n| name == OsStr::new(n));
    if entry.depth() != 1 {
        return false;
    }
    if entry.file_type().is_dir() {
        is(&["logs", "machines", super::expected::NODES])
    } else {
        is_script() || is(&[plan::FILE, "submit", "local", "record-node", "anonymous.key"])
    }
}
