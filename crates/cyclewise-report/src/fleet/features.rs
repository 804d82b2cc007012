//! What doctors' reports say of the nodes: how many have each feature, and which nodes are not like most.

use super::group::plain;
use crate::record::fleet::{Checkup, Status};
use crate::record::fleet_report::Feature;
use std::collections::BTreeMap;

/// The most nodes that are named for a feature.
const MOST: usize = 100;

/// What a node's report says in a line: the node, the status and the value.
type Said<'a> = (&'a str, &'a Status, &'a str);

/// One entry for each line, in the order of a doctor's report. Of several reports of a node the last
/// counts; of those that do not say when they were made, that whose file's name is last.
pub(super) fn features(checkups: &[Checkup]) -> Vec<Feature> {
    let mut nodes: BTreeMap<String, &Checkup> = BTreeMap::new();
    for checkup in checkups.iter().filter(|checkup| !checkup.is_verification()) {
        let node = nodes.entry(plain(&checkup.node)).or_insert(checkup);
        if (&checkup.created, &checkup.file) > (&node.created, &node.file) {
            *node = checkup;
        }
    }
    // A line's place is the least that it has in any report: nodes without it do not move it.
    let mut lines: BTreeMap<&str, (usize, Vec<Said>)> = BTreeMap::new();
    for (node, checkup) in &nodes {
        for (place, (name, status, value)) in checkup.lines.iter().enumerate() {
            let line = lines.entry(name).or_insert((place, Vec::new()));
            line.0 = line.0.min(place);
            line.1.push((node, status, value));
        }
    }
    let mut order: Vec<(&str, (usize, Vec<Said>))> = lines.into_iter().collect();
    order.sort_by_key(|(_, (place, _))| *place);
    order
        .into_iter()
        .map(|(name, (_, nodes))| feature(name, &nodes))
        .collect()
}

fn feature(name: &str, nodes: &[Said]) -> Feature {
    let mut by_status: BTreeMap<&Status, usize> = BTreeMap::new();
    for (_, status, _) in nodes {
        *by_status.entry(*status).or_default() += 1;
    }
    // Of as many with as without, those without are named.
    let usual = by_status
        .iter()
        .rev()
        .max_by_key(|(_, n)| **n)
        .map(|(status, _)| *status);
    let unlike = nodes.iter().filter(|(_, status, _)| Some(*status) != usual);
    Feature {
        name: plain(name),
        counts: by_status
            .iter()
            .map(|(status, n)| (plain(status.as_str()), *n))
            .collect(),
        unlike: unlike
            .take(MOST)
            .map(|(node, status, value)| (plain(node), plain(status.as_str()), plain(value)))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checkup(node: &str, file: &str, lines: &[(&str, &str)]) -> Checkup {
        let line = |(name, status): &(&str, &str)| (name.to_string(), status.to_string().into(), "value\n2".to_owned());
        Checkup {
            file: file.to_owned(),
            node: node.to_owned(),
            lines: lines.iter().map(line).collect(),
            ..Checkup::default()
        }
    }

    #[test]
    fn nodes_unlike_most_are_named_and_a_node_counts_once() {
        let found = features(&[
            checkup("n1", "a", &[("rseq", "ok"), ("pmu", "absent")]),
            checkup("n2", "b", &[("rseq", "ok"), ("pmu", "ok")]),
            checkup("n3", "c", &[("rseq", "absent"), ("pmu", "absent")]),
            checkup("n3", "d", &[("rseq", "limited"), ("pmu", "absent")]),
        ]);
        let names: Vec<&str> = found.iter().map(|f| f.name.as_str()).collect();
        assert_eq!(names, ["rseq", "pmu"]);
        assert_eq!(found[0].counts, [("ok".to_owned(), 2), ("limited".to_owned(), 1)]);
        assert_eq!(
            found[0].unlike,
            [("n3".to_owned(), "limited".to_owned(), "value 2".to_owned())]
        );
        assert_eq!(found[1].unlike[0].0, "n2");
    }

    #[test]
    fn where_half_have_it_those_without_are_named() {
        let found = features(&[
            checkup("n1", "a", &[("rseq", "ok")]),
            checkup("n2", "b", &[("rseq", "absent")]),
        ]);
        assert_eq!(found[0].unlike[0].0, "n2");
        assert!(features(&[]).is_empty());
    }
}
