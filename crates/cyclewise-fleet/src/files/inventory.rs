//! A fleet in memory: what is analysed.

use super::gather::{Rules, gather};
use crate::error::Result;
use crate::fleet::figures::{Figures, Measured};
#[cfg(test)]
use crate::record::fleet::Member;
use crate::record::fleet::{Checkup, Problem};
use std::path::PathBuf;

/// What is analysed: records, whose rows are in columns, and doctors' reports.
#[derive(Default)]
pub(crate) struct Figured {
    /// The records that count, and their figures.
    pub measured: Measured,
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
pub(crate) fn read_figures(sources: &[PathBuf], progress: &(dyn Fn(usize, usize) + Sync)) -> Result<Figured> {
    let figures = Figures::default();
    let gathered = gather(sources, &Rules::default(), progress, &|member| Ok(figures.keep(member)))?;
    Ok(Figured {
        measured: Measured {
            records: gathered.members.into_iter().map(|(_, kept)| kept).collect(),
            figures,
        },
        checkups: gathered.checkups,
        problems: gathered.problems,
    })
}

/// The records and doctors' reports of a fleet, with the rows of each record, for tests of the reading.
#[cfg(test)]
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Inventory {
    /// The records, by node, time, digest and file.
    pub members: Vec<Member>,
    /// The latest doctor's report of each node, by node.
    pub checkups: Vec<Checkup>,
    /// Files that are left out and why, and nodes without a record; by name.
    pub problems: Vec<Problem>,
}

/// As [`read_figures`], with the rows of each record.
#[cfg(test)]
pub(crate) fn read(sources: &[PathBuf], progress: &(dyn Fn(usize, usize) + Sync)) -> Result<Inventory> {
    let gathered = gather(sources, &Rules::default(), progress, &Ok)?;
    Ok(Inventory {
        members: gathered.members.into_iter().map(|(_, member)| member).collect(),
        checkups: gathered.checkups,
        problems: gathered.problems,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fleet::{Settings, analyse, measured};
    use std::path::Path;

    #[test]
    fn figures_that_are_read_into_columns_are_held_once_and_give_the_same_report() {
        let records = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../records");
        let folder = tempfile::tempdir().unwrap();
        let mut count = 0;
        for entry in std::fs::read_dir(&records).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|e| e == "json") {
                count += 1;
                // Each twice: of one of them no figure may count.
                for copy in ["a", "b"] {
                    std::fs::copy(&path, folder.path().join(format!("{copy}{count}.json"))).unwrap();
                }
            }
        }
        assert!(count > 0);
        let sources = [folder.path().to_owned()];
        let settings = Settings {
            by: Vec::new(),
            fdr: 0.05,
        };
        let whole = read(&sources, &|_, _| {}).unwrap();
        let rows: usize = whole.members.iter().map(|m| m.rows.len()).sum();
        let figured = read_figures(&sources, &|_, _| {}).unwrap();
        let of_members: usize = figured
            .measured
            .records
            .iter()
            .map(|kept| kept.member.rows.capacity())
            .sum();
        assert!(
            rows > 0 && of_members == 0,
            "{rows} rows, {of_members} of them also outside the columns"
        );
        let expected = analyse(whole.members, &whole.checkups, whole.problems, &settings).unwrap();
        let report = measured(figured.measured, &figured.checkups, figured.problems, &settings).unwrap();
        let text = |report| serde_json::to_string(report).unwrap();
        assert!(!report.rows.is_empty() && text(&report) == text(&expected));
    }
}
