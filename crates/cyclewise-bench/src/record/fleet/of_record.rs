//! A record in memory as a member of a fleet: what `compare` makes of each of its records.

use super::{Member, Row};
use crate::record::{Experiment, Record, Run};

impl Member {
    /// The member that `record` is, as a machine of its own by the name of `file`: a comparison shows a node's records side by
    /// side, and does not join them. Samples and digest are left out.
    pub fn alone(file: &str, record: &Record) -> Self {
        let mut machine = record.machine.clone();
        machine.identity.node = None;
        Member {
            file: file.to_owned(),
            created: record.created.clone(),
            tool: record.tool.clone(),
            command: record.command.clone(),
            machine,
            runs: record.runs.len().max(1),
            rows: record.experiments.iter().flat_map(|e| rows(e, &record.runs)).collect(),
            missing: record.missing.clone(),
            ..Member::default()
        }
    }
}

fn rows<'r>(e: &'r Experiment, runs: &'r [Run]) -> impl Iterator<Item = Row> + 'r {
    e.variants.iter().map(move |v| {
        let (value, ci95) = v.value();
        let of_runs = runs.iter().filter_map(|run| run.median(&e.name, &v.name));
        Row {
            experiment: e.name.as_str().into(),
            variant: v.name.as_str().into(),
            unit: e.unit,
            not_linear: v.is_not_linear(),
            n: v.n,
            value,
            ci95,
            runs: if runs.len() > 1 { of_runs.collect() } else { Vec::new() },
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::fleet::{Document, Names};

    const RECORD: &[u8] = include_bytes!("../../../../../records/2026-11-21-epyc-genoa-kvm-percpu.json");

    #[test]
    fn it_has_the_rows_that_the_reader_of_folders_finds_in_the_same_record() {
        let text = std::str::from_utf8(RECORD).unwrap();
        let record = crate::record::from_str("r.json", text).unwrap();
        let alone = Member::alone("A", &record);
        let Document::Member(read) = Document::parse("A", text, &Names::default()).unwrap() else {
            panic!("a record is a member");
        };
        assert!(!read.rows.is_empty());
        assert_eq!((alone.rows, alone.runs), (read.rows, read.runs));
    }

    #[test]
    fn records_of_one_node_stay_apart() {
        let mut record = Record::default();
        record.machine.identity.node = Some("n1".to_owned());
        assert_eq!(Member::alone("A", &record).machine.identity.node, None);
    }
}
