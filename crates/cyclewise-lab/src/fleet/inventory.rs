//! A fleet in memory: what is analysed.

use super::gather::{Rules, gather};
use crate::error::Result;
use crate::record::fleet::{Checkup, Member, Problem};
use std::path::PathBuf;

/// The records and doctors' reports of a fleet.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Inventory {
    /// The records, by node, time, digest and file.
    pub members: Vec<Member>,
    /// The latest doctor's report of each node, by node.
    pub checkups: Vec<Checkup>,
    /// Files that are left out and why, and nodes without a record; by name.
    pub problems: Vec<Problem>,
}

/// Reads folders of records, single records, and what `fleet join` wrote. `progress` is told how many files of how many are read,
/// from any thread.
///
/// What is read does not depend on the order of the sources, of folders' entries or of threads.
///
/// # Errors
/// Exit 2: a source does not exist or cannot be read. A file that is no record is a problem of the inventory, not an error.
pub(crate) fn read(sources: &[PathBuf], progress: &(dyn Fn(usize, usize) + Sync)) -> Result<Inventory> {
    let gathered = gather(sources, &Rules::default(), progress, &Ok)?;
    Ok(Inventory {
        members: gathered.members.into_iter().map(|(_, member)| member).collect(),
        checkups: gathered.checkups,
        problems: gathered.problems,
    })
}
