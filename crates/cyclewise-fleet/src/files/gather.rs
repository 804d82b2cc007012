//! Reads the files of a fleet on all cores. What is kept of a member is the caller's affair, so that neither records nor rows need
//! to fit into memory.

use super::file::{self, Bytes};
use super::key::Key;
use super::walk::{FoundFile, walk};
use super::{expected, resolve};
use crate::error::{Error, Result};
use crate::record::fleet::{Checkup, Document, Fault, Member, Names, Problem, ProblemKind, lines};
use crate::record::plan::Plan;
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The most threads: each may hold a text of the greatest length.
const THREADS: usize = 8;

/// What the sources hold.
pub(super) struct Gathered<T> {
    /// In the order of [`Key::order`], each measurement once.
    pub(super) members: Vec<(Key, T)>,
    /// By node, each node once.
    pub(super) checkups: Vec<Checkup>,
    /// By name.
    pub(super) problems: Vec<Problem>,
}

/// Takes a member, and gives what is kept of it.
pub(super) type Keep<'a, T> = &'a (dyn Fn(Member) -> Result<T> + Sync);

/// Tells how many files of how many are read.
pub(super) type Progress<'a> = &'a (dyn Fn(usize, usize) + Sync);

/// Reads all sources.
///
/// # Errors
/// Exit 2: a source cannot be read; and what `keep` says.
pub(super) fn gather<T: Send>(
    sources: &[PathBuf],
    rules: &Rules,
    progress: Progress,
    keep: Keep<T>,
) -> Result<Gathered<T>> {
    let walked = walk(sources)?;
    // What was removed from a folder shall not come back from what was joined of it.
    let (outputs, files): (Vec<FoundFile>, Vec<FoundFile>) = walked
        .files
        .into_iter()
        .partition(|f| f.is_output || rules.is_target(f));
    let reader = Reader {
        names: Names::default(),
        rules,
        has_documents: sources.iter().map(|_| AtomicBool::new(false)).collect(),
        keep,
        parts: Mutex::new(Parts {
            members: Vec::new(),
            checkups: Vec::new(),
            problems: walked.problems,
        }),
    };
    let done = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(THREADS);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool =
        pool.map_err(|e| Error::unsupported(format!("threads to read with: {e}; raise the limit of processes")))?;
    pool.install(|| {
        files.par_iter().try_for_each_init(Vec::new, |room, found| {
            reader.read(found, room)?;
            // Relaxed: a count for people, which orders nothing.
            progress(done.fetch_add(1, Ordering::Relaxed) + 1, files.len());
            Ok(())
        })
    })?;
    for found in outputs.iter().filter(|_| !rules.is_join) {
        if !reader.has_documents(found.source).load(Ordering::Relaxed) {
            reader.read(found, &mut Vec::new())?;
        }
    }
    let parts = reader.parts.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(parts.in_order(sources))
}

/// What is read and counts.
#[derive(Default)]
pub(super) struct Rules<'a> {
    /// Whether a folder's records are the truth, so that what was joined of them is not read. If not, it is read where there is
    /// nothing else.
    pub(super) is_join: bool,
    /// The file that will be written, which is not read.
    pub(super) target: Option<&'a Path>,
    /// The plan that records must follow.
    pub(super) plan: Option<&'a Plan>,
}

impl Rules<'_> {
    fn is_target(&self, found: &FoundFile) -> bool {
        let Some(target) = self
            .target
            .filter(|target| target.file_name() == found.path.file_name())
        else {
            return false;
        };
        let same = |a: &Path, b: &Path| Some(fs::canonicalize(a).ok()? == fs::canonicalize(b).ok()?);
        same(target, &found.path) == Some(true)
    }
}

struct Reader<'a, T> {
    names: Names,
    rules: &'a Rules<'a>,
    /// Of each source, whether something in it counts.
    has_documents: Vec<AtomicBool>,
    keep: Keep<'a, T>,
    parts: Mutex<Parts<T>>,
}

struct Parts<T> {
    members: Vec<(Key, T)>,
    checkups: Vec<(bool, Checkup)>,
    problems: Vec<Problem>,
}

impl<T> Reader<'_, T> {
    fn read(&self, found: &FoundFile, room: &mut Vec<u8>) -> Result<()> {
        let fault = match file::open(&found.path) {
            Ok(bytes) if lines::is_fleet(bytes.buffer()) => return self.joined(found, bytes),
            Ok(bytes) => self.document(found, bytes, room)?,
            Err(fault) => Some(fault),
        };
        if let Some(fault) = fault {
            self.with(|parts| parts.problems.push(fault.in_file(&found.name)));
        }
        Ok(())
    }

    fn document(&self, found: &FoundFile, bytes: Bytes, room: &mut Vec<u8>) -> Result<Option<Fault>> {
        let document = match file::read_text(bytes, room) {
            Ok(text) => Document::parse(&found.name, text, &self.names),
            Err(fault) => return Ok(Some(fault)),
        };
        match document {
            Ok(Document::Member(member)) => {
                self.has_documents(found.source).store(true, Ordering::Relaxed);
                self.member(*member, false)?;
            }
            Ok(Document::Checkup(checkup)) => {
                self.has_documents(found.source).store(true, Ordering::Relaxed);
                self.with(|parts| parts.checkups.push((false, checkup)));
            }
            Ok(Document::Other(schema)) => {
                let why = format!("is a document of schema {schema}, not a record");
                return Ok(Some(Fault(ProblemKind::Foreign, why)));
            }
            Err(fault) => return Ok(Some(fault)),
        }
        Ok(None)
    }

    /// Reads what an earlier join wrote. Its problems are those of the user's fleet only if the user named this file: in a folder,
    /// they are what was wrong with that folder then.
    fn joined(&self, found: &FoundFile, bytes: Bytes) -> Result<()> {
        let mut reading = lines::Lines::new(bytes);
        let read = loop {
            match reading.next(&self.names) {
                Ok(Some(lines::FleetLine::Member(member))) => self.member(*member, true)?,
                Ok(Some(lines::FleetLine::Checkup(checkup))) => self.with(|parts| parts.checkups.push((true, checkup))),
                Ok(None) => break Ok(()),
                Err(fault) => break Err(fault),
            }
        };
        self.with(|parts| {
            if found.named {
                parts.problems.extend(reading.problems());
            }
            if let Err(fault) = read {
                parts.problems.push(fault.in_file(&found.name));
            }
        });
        Ok(())
    }

    /// Relaxed where it is used: threads that set it end before it is read.
    fn has_documents(&self, source: usize) -> &AtomicBool {
        &self.has_documents[source]
    }

    fn member(&self, member: Member, from_joined: bool) -> Result<()> {
        if let Some(fault) = self.rules.plan.and_then(|plan| expected::other_than(plan, &member)) {
            self.with(|parts| parts.problems.push(fault.in_file(&member.file)));
            return Ok(());
        }
        let key = Key::of_member(&member, from_joined);
        let kept = (self.keep)(member)?;
        self.with(|parts| parts.members.push((key, kept)));
        Ok(())
    }

    fn with(&self, change: impl FnOnce(&mut Parts<T>)) {
        // Each change is one push; the parts are whole whenever a thread panics.
        change(&mut self.parts.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl<T> Parts<T> {
    fn in_order(self, sources: &[PathBuf]) -> Gathered<T> {
        let (members, duplicates) = resolve::members(self.members);
        let (checkups, later) = resolve::checkups(self.checkups);
        let verified = checkups.iter().filter(|checkup| checkup.is_verification());
        let verified = verified.map(|checkup| checkup.node.clone());
        let nodes: BTreeSet<String> = members
            .iter()
            .map(|(key, _)| key.node.clone())
            .chain(verified)
            .collect();
        let missing = sources.iter().flat_map(|source| expected::missing(source, &nodes));
        let mut problems: Vec<Problem> = self
            .problems
            .into_iter()
            .chain(duplicates)
            .chain(later)
            .chain(missing)
            .collect();
        problems.sort();
        problems.dedup();
        Gathered {
            members,
            checkups,
            problems,
        }
    }
}
