//! The nodes that a planned job ran on, of each of which there should be a record.

use super::{key, name};
use crate::record::fleet::{Fault, Member, Problem, ProblemKind};
use crate::record::plan::Plan;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The folder in which a job writes its nodes: one file for each job, named by its id, and of each
/// node that is measured without Slurm a file local-NAME, with a node's name on each line.
pub(super) const NODES: &str = "nodes";

/// The longest list of nodes that is read, in bytes: 100 000 names.
const LONGEST: u64 = 8 << 20;

/// Why a record is not one of the plan's job.
pub(super) fn other_than(plan: &Plan, member: &Member) -> Option<Fault> {
    if member.tool != plan.tool {
        let (theirs, planned) = (member.tool.shown(), plan.tool.shown());
        let why = format!("cyclewise {theirs} wrote it, and the plan is of {planned}");
        return Some(Fault(ProblemKind::Version, why));
    }
    if !key::without_outputs(&member.command).eq(key::without_outputs(&plan.command)) {
        let (theirs, planned) = (member.command.join(" "), plan.command.join(" "));
        let why = format!("is of `{theirs}`, and the plan is of `{planned}`");
        return Some(Fault(ProblemKind::Foreign, why));
    }
    None
}

/// Nodes that have no record, each with the last job that ran on it.
pub(super) fn missing(folder: &Path, have: &BTreeSet<String>) -> Vec<Problem> {
    let (nodes, mut problems) = nodes(folder);
    let without = nodes.into_iter().filter(|(node, _)| !have.contains(node));
    problems.extend(without.map(|(node, job)| {
        let why = if job.starts_with("local-") {
            "it was to be measured without Slurm, and there is no record of it".to_owned()
        } else {
            format!("job {job} ran on this node, and there is no record of it")
        };
        Fault(ProblemKind::Missing, why).in_file(&node)
    }));
    problems
}

/// The nodes that a folder's jobs ran on, each with the last job, and lists that cannot be read.
pub(super) fn nodes(folder: &Path) -> (BTreeMap<String, String>, Vec<Problem>) {
    let mut nodes: BTreeMap<String, String> = BTreeMap::new();
    let mut problems = Vec::new();
    let Ok(jobs) = std::fs::read_dir(folder.join(NODES)) else {
        return (nodes, problems);
    };
    for job in jobs.flatten().filter(|job| job.path().is_file()) {
        let id = name::clean(Path::new(&job.file_name()));
        // One that was being written when its job was ended.
        if id.starts_with('.') {
            continue;
        }
        let mut text = String::new();
        let read = File::open(job.path()).and_then(|file| file.take(LONGEST).read_to_string(&mut text));
        if let Err(e) = read {
            problems.push(super::file::torn(&e).in_file(&format!("{NODES}/{id}")));
            continue;
        }
        for node in text.lines().map(str::trim).filter(|node| !node.is_empty()) {
            let last = nodes.entry(node.replace(crate::error::is_control, " ")).or_default();
            if id.len() > last.len() || (id.len() == last.len() && id > *last) {
                last.clone_from(&id);
            }
        }
    }
    (nodes, problems)
}
