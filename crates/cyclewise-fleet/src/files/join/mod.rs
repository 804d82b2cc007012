//! Joins the records of a folder to the lines of one file, in memory that does not grow with their rows.
//!
//! Members are written to a file without a name as they are read, in whatever order that is; their keys stay in memory. Once all
//! are known, the head is, and they are copied in their order.

use super::expected;
use super::gather::{Rules, gather};
use super::key::Key;
use crate::error::{Error, Result};
use crate::record::Tool;
use crate::record::fleet::{Checkup, Head, Member, SCHEMA, lines};
use crate::record::plan::Plan;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Where a member's line is in the file without a name.
struct Spilled {
    offset: u64,
    bytes: usize,
    /// The experiments and variants that it lacks and its machine could have measured.
    lacks: usize,
}

/// A folder's records, joined.
pub(crate) struct Joined {
    /// The first line.
    pub(crate) head: Head,
    members: Vec<(Key, Spilled)>,
    checkups: Vec<Checkup>,
    spill: File,
}

/// Reads the folder `dir`, but for `target`, which will be written; members wait in a file without a name beside it, or in the folder of
/// temporary files. Records must follow the `plan`, if there is one.
///
/// # Errors
/// Exit 2: the folder cannot be read. Exit 3: there is no room for that file.
pub(crate) fn join(
    dir: &Path,
    target: Option<&Path>,
    plan: Option<&Plan>,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Joined> {
    let rules = Rules {
        is_join: true,
        target,
        plan,
    };
    // Lines wait where the result goes, which has room for them.
    let beside = match target.map(Path::parent) {
        None => std::env::temp_dir(),
        Some(Some(folder)) if !folder.as_os_str().is_empty() => folder.to_owned(),
        Some(_) => PathBuf::from("."),
    };
    let no_room = |e: io::Error| {
        let what = format!("a temporary file in {}", beside.display());
        Error::system(&what, &e, "make room there, or name another folder by --json").in_one_line()
    };
    let file = tempfile::tempfile_in(&beside).map_err(no_room)?;
    let spill = Mutex::new(Spill { file, end: 0 });
    let keep = |member: Member| {
        let line = lines::to_line(&member).map_err(no_room)?;
        let lacks = member.missing.iter().filter(|m| m.possible).count();
        let mut spill = spill.lock().unwrap_or_else(PoisonError::into_inner);
        let offset = spill.append(&line).map_err(no_room)?;
        Ok(Spilled {
            offset,
            bytes: line.len(),
            lacks,
        })
    };
    let gathered = gather(&[PathBuf::from(dir)], &rules, progress, &keep)?;
    Ok(Joined {
        head: Head {
            schema: SCHEMA.to_owned(),
            tool: Tool::this(),
            members: gathered.members.len(),
            checkups: gathered.checkups.len(),
            problems: gathered.problems,
        },
        members: gathered.members,
        checkups: gathered.checkups,
        spill: spill.into_inner().unwrap_or_else(PoisonError::into_inner).file,
    })
}

/// The nodes of `dir`'s jobs of which there is no report of doctor.
pub(crate) fn without_checkup(dir: &Path, joined: &Joined) -> Vec<String> {
    let doctors = joined.checkups.iter().filter(|c| !c.is_verification());
    let have: BTreeSet<&str> = doctors.map(|c| c.node.as_str()).collect();
    let nodes = expected::nodes(dir).0.into_keys();
    nodes.filter(|node| !have.contains(&**node)).collect()
}

/// The file that lines wait in.
struct Spill {
    file: File,
    end: u64,
}

impl Spill {
    /// Writes a line, and says where.
    fn append(&mut self, line: &[u8]) -> io::Result<u64> {
        let offset = self.end;
        self.file.write_all_at(line, offset)?;
        self.end += line.len() as u64;
        Ok(offset)
    }
}

impl Joined {
    /// The number of different nodes with a verification.
    pub(crate) fn verified_nodes(&self) -> usize {
        let nodes: BTreeSet<&str> = self.verifications().map(|found| found.node.as_str()).collect();
        nodes.len()
    }

    /// The number of different nodes with a record; records without a node's name are of one each.
    pub(crate) fn nodes(&self) -> usize {
        let nameless = self.members.iter().filter(|(key, _)| key.node.is_empty()).count();
        // Members are sorted by node.
        let named = self.members.chunk_by(|(a, _), (b, _)| a.node == b.node);
        nameless + named.filter(|same| !same[0].0.node.is_empty()).count()
    }

    /// Reports of doctor.
    pub(crate) fn doctors(&self) -> usize {
        self.checkups.len() - self.verifications().count()
    }

    /// What was verified on nodes.
    pub(crate) fn verifications(&self) -> impl Iterator<Item = &Checkup> {
        self.checkups.iter().filter(|checkup| checkup.is_verification())
    }

    /// The files of records that lack something that their machine could have measured, and how much.
    pub(crate) fn partial(&self) -> impl Iterator<Item = (&str, usize)> {
        let lacking = self.members.iter().filter(|(_, spilled)| spilled.lacks > 0);
        lacking.map(|(key, spilled)| (key.file.as_str(), spilled.lacks))
    }

    /// Writes the whole file.
    ///
    /// # Errors
    /// `out` refuses, or the file without a name cannot be read.
    pub(crate) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(&lines::to_line(&self.head)?)?;
        let mut line = Vec::new();
        for (_, spilled) in &self.members {
            line.resize(spilled.bytes, 0);
            self.spill.read_exact_at(&mut line, spilled.offset)?;
            out.write_all(&line)?;
        }
        for checkup in &self.checkups {
            out.write_all(&lines::to_line(checkup)?)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
