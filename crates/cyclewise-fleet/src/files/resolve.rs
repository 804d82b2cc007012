//! Which records count: each measurement once, each task of an engine once.
//!
//! 1. Files with the same digest are copies of one measurement. The first by name counts.
//! 2. Files with different figures that one process wrote, by node, boot, time and tick rate, are copies too: one was modified.
//!    No figure says which, so none counts.
//! 3. An engine starts a task again after a failure, and its count of restarts tells the starts apart. Records of several starts
//!    of one command on one node are one task's: those of the start that first ended with all that was asked for count. So a
//!    node's weight does not depend on failures, and no figure decides which is taken. Records of the same start are further
//!    runs, which the job's own script asked for, and all count.
//!
//! A record that does not count is named; a member of an earlier joined file gives way to its record in silence. All of it
//! depends on the records and their names alone, not on the order in which they were read.

use super::key::Key;
use crate::record::fleet::{Checkup, Fault, Problem, ProblemKind};
use std::collections::{HashMap, HashSet};
use std::hash::Hash;

/// Sorts the members, and takes out those that do not count.
pub(super) fn members<T>(mut members: Vec<(Key, T)>) -> (Vec<(Key, T)>, Vec<Problem>) {
    members.sort_by(|(a, _), (b, _)| a.copy_order().cmp(&b.copy_order()));
    let mut problems = Vec::new();
    contradictory(&mut members, &mut problems);
    once(
        &mut members,
        &mut problems,
        |key| key.digest.clone(),
        |first| format!("is the same measurement as {first}, which counts"),
    );
    one_start(&mut members, &mut problems);
    members.sort_by(|(a, _), (b, _)| a.order().cmp(&b.order()));
    problems.sort();
    (members, problems)
}

/// The latest report of each node and the latest verification of each part, by node. The others are named, because a node is counted once.
pub(super) fn checkups(mut all: Vec<(bool, Checkup)>) -> (Vec<Checkup>, Vec<Problem>) {
    let ended = |c: &Checkup| humantime::parse_rfc3339(&c.created).ok();
    all.sort_by(|(old_a, a), (old_b, b)| {
        let latest = || ended(b).cmp(&ended(a));
        (&a.node, &a.verified)
            .cmp(&(&b.node, &b.verified))
            .then_with(latest)
            .then(old_a.cmp(old_b))
            .then_with(|| a.file.cmp(&b.file))
    });
    let mut counts: Vec<Checkup> = Vec::new();
    let mut problems = Vec::new();
    for (from_joined, checkup) in all {
        match counts.last() {
            Some(latest) if latest.node == checkup.node && latest.verified == checkup.verified => {
                if !from_joined {
                    let why = format!(
                        "{} is a report of the same node that is no older, and counts",
                        latest.file
                    );
                    problems.push(Fault(ProblemKind::Duplicate, why).in_file(&checkup.file));
                }
            }
            _ => counts.push(checkup),
        }
    }
    (counts, problems)
}

/// Takes out those that one process wrote and that have different figures. A member of an earlier join is named too, because it may be
/// the only one of them in its file.
fn contradictory<T>(members: &mut Vec<(Key, T)>, problems: &mut Vec<Problem>) {
    let mut by_process: HashMap<u64, Vec<&Key>> = HashMap::new();
    for (key, _) in &*members {
        by_process.entry(key.process).or_default().push(key);
    }
    by_process.retain(|_, keys| keys.iter().any(|key| key.digest != keys[0].digest));
    for keys in by_process.values() {
        for key in keys {
            if let Some(other) = keys.iter().find(|other| other.digest != key.digest) {
                let why = format!(
                    "is of the same run as {}, with other figures: one was modified after it was written, so neither counts",
                    other.file
                );
                problems.push(Fault(ProblemKind::Mangled, why).in_file(&key.file));
            }
        }
    }
    let processes: HashSet<u64> = by_process.into_keys().collect();
    members.retain(|(key, _)| !processes.contains(&key.process));
}

/// Leaves the first of those that are the same.
fn once<T, K: Hash + Eq>(
    members: &mut Vec<(Key, T)>,
    problems: &mut Vec<Problem>,
    same: impl Fn(&Key) -> K,
    why: impl Fn(&str) -> String,
) {
    let mut first: HashMap<K, String> = HashMap::new();
    members.retain(|(key, _)| match first.get(&same(key)) {
        None => {
            first.insert(same(key), key.file.clone());
            true
        }
        Some(first) => {
            leave_out(key, why(first), problems);
            false
        }
    });
}

/// The start of a task whose records count.
struct Start {
    restarts: u32,
    file: String,
}

/// Leaves the records of one start of each task.
fn one_start<T>(members: &mut Vec<(Key, T)>, problems: &mut Vec<Problem>) {
    let mut by_end: Vec<&Key> = members
        .iter()
        .map(|(key, _)| key)
        .filter(|key| key.task.is_some())
        .collect();
    by_end.sort_by_key(|key| (key.is_partial, key.ended, &key.file));
    let mut counts: HashMap<u64, Start> = HashMap::new();
    for key in by_end {
        if let Some(task) = key.task {
            counts.entry(task).or_insert_with(|| Start {
                restarts: key.restarts,
                file: key.file.clone(),
            });
        }
    }
    members.retain(|(key, _)| match key.task.and_then(|task| counts.get(&task)) {
        Some(start) if start.restarts != key.restarts => {
            let why = format!(
                "is of another start of the task that wrote {}, which counts",
                start.file
            );
            leave_out(key, why, problems);
            false
        }
        _ => true,
    });
}

fn leave_out(key: &Key, why: String, problems: &mut Vec<Problem>) {
    if !key.from_joined {
        problems.push(Fault(ProblemKind::Duplicate, why).in_file(&key.file));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::fleet::Member;
    use crate::record::{Identity, Job, Missing};

    /// The key of a record in `file`, with this digest's letter and start of its task.
    fn key(file: &str, node: &str, digest: char, second: u32, restarts: Option<u32>) -> (Key, String) {
        let mut member = Member {
            file: file.to_owned(),
            digest: digest.to_string(),
            created: format!("2026-11-23T18:00:{second:02}Z"),
            ..Member::default()
        };
        member.machine.identity = Identity {
            node: Some(node.to_owned()),
            job: restarts.map(|restarts| Job {
                id: "9".to_owned(),
                restarts,
                ..Job::default()
            }),
            ..Identity::default()
        };
        if digest == 'p' {
            member.missing.push(Missing {
                possible: true,
                ..Missing::default()
            });
        }
        (Key::of_member(&member, file.starts_with("fleet")), file.to_owned())
    }

    /// Copies, a modified copy, an earlier join's member, and a task with three starts.
    fn fleet() -> Vec<(Key, String)> {
        vec![
            key("a", "n1", 'x', 1, None),
            key("b", "n1", 'x', 1, None),
            key("c", "n1", 'y', 1, None),
            key("fleet-a", "n1", 'x', 1, None),
            key("d", "n2", 'p', 2, Some(0)),
            key("e", "n2", 'q', 3, Some(1)),
            key("f", "n2", 'r', 4, Some(2)),
        ]
    }

    fn kept(all: Vec<(Key, String)>) -> (Vec<String>, Vec<Problem>) {
        let (members, problems) = members(all);
        (members.into_iter().map(|(_, file)| file).collect(), problems)
    }

    #[test]
    fn every_order_of_reading_leaves_the_same() {
        let (files, problems) = kept(fleet());
        assert_eq!(files, ["e"]);
        let names: Vec<&str> = problems.iter().map(|p| p.name.as_str()).collect();
        assert_eq!(names, ["a", "b", "c", "d", "f", "fleet-a"]);
        // All orders of seven, by Heap's algorithm.
        let mut order = fleet();
        let mut counts = [0; 7];
        let mut i = 1;
        while i < order.len() {
            if counts[i] < i {
                let from = if i % 2 == 0 { 0 } else { counts[i] };
                order.swap(from, i);
                assert_eq!(kept(order.clone()), (files.clone(), problems.clone()));
                counts[i] += 1;
                i = 1;
            } else {
                counts[i] = 0;
                i += 1;
            }
        }
    }

    /// The twin: where the first that was read counts, the order of reading shows.
    #[test]
    fn the_first_that_was_read_would_not_be_the_same() {
        let first_read = |members: &mut Vec<(Key, String)>| {
            once(members, &mut Vec::new(), |key| key.digest.clone(), str::to_owned);
            members.sort_by(|(a, _), (b, _)| a.order().cmp(&b.order()));
            members.iter().map(|(_, file)| file.clone()).collect::<Vec<_>>()
        };
        let mut backwards: Vec<_> = fleet().into_iter().rev().collect();
        assert_ne!(first_read(&mut fleet()), first_read(&mut backwards));
    }
}
