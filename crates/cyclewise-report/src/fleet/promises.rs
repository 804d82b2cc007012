//! What `verify` found on the nodes: the promises that broke, with the evidence.

use crate::record::fleet::{Checkup, Status};
use crate::record::fleet_report::{SeenPromise, Verified};
use std::collections::BTreeMap;

/// One entry for each part that was verified, by name.
pub(super) fn verified(checkups: &[Checkup]) -> Vec<Verified> {
    let mut parts: BTreeMap<&str, Vec<&Checkup>> = BTreeMap::new();
    for checkup in checkups.iter().filter(|checkup| checkup.is_verification()) {
        parts.entry(&checkup.verified).or_default().push(checkup);
    }
    let part = |(what, mut nodes): (&str, Vec<&Checkup>)| {
        nodes.sort_by(|a, b| (&a.node, &a.file).cmp(&(&b.node, &b.file)));
        let with = |wanted: &Status| {
            let lines = nodes
                .iter()
                .flat_map(|node| node.lines.iter().map(move |line| (node, line)));
            lines
                .filter(|(_, (_, status, _))| status == wanted)
                .map(|(node, (name, _, seen))| SeenPromise {
                    node: node.node.clone(),
                    name: name.clone(),
                    seen: seen.clone(),
                    file: node.file.clone(),
                })
                .collect()
        };
        Verified {
            what: what.to_owned(),
            nodes: nodes.len(),
            broken: with(&Status::Broken),
            not_shown: with(&Status::NotShown),
        }
    };
    parts.into_iter().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_promise_names_its_node_and_a_doctor_breaks_none() {
        let checkup = |node: &str, verified: &str, status: Status| Checkup {
            node: node.to_owned(),
            verified: verified.to_owned(),
            lines: vec![("sums-are-exact".to_owned(), status, "3 of 9 lost".to_owned())],
            ..Checkup::default()
        };
        let all = [
            checkup("n2", "percpu", Status::Broken),
            checkup("n1", "percpu", Status::Holds),
            checkup("n1", "", Status::Broken),
            checkup("n1", "clock", Status::NotShown),
        ];
        let [clock, percpu] = &verified(&all)[..] else {
            panic!("two parts")
        };
        assert_eq!((clock.nodes, clock.broken.len(), clock.not_shown.len()), (1, 0, 1));
        assert_eq!((percpu.nodes, percpu.broken.len()), (2, 1));
        assert_eq!(
            (&*percpu.broken[0].node, &*percpu.broken[0].seen),
            ("n2", "3 of 9 lost")
        );
    }
}
