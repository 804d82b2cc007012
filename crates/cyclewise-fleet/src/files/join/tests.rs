//! Joined files: the same bytes whatever the order, read back as what they were made of, and never counted twice.

use super::join;
use crate::files::tests::{folder, inventory, packed, put, record, text};
use crate::files::{Inventory, read};
use crate::record::fleet::{Problem, ProblemKind};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

fn joined(dir: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    join(dir, None, None, &|_, _| ()).unwrap().write(&mut bytes).unwrap();
    bytes
}

/// Twenty nodes of two records, a doctor's report, a copy and a torn file; made in this order of numbers.
fn fleet(order: &[u64]) -> TempDir {
    let folder = folder(&[]);
    for &n in order {
        let name = format!("{:02}/record.json", (n * 7) % 40);
        put(
            folder.path(),
            &name,
            text(&record(&format!("n{}", n / 2), n)).as_bytes(),
        );
        if n == 3 {
            put(folder.path(), "copy.json.gz", &packed(&text(&record("n1", 3))));
            put(folder.path(), "torn.json", &text(&record("n1", 3)).as_bytes()[..300]);
        }
        if n == 5 {
            let report = r#"{"schema":"cyclewise.doctor/1","created":"2026-11-23T18:00:00Z","tool":{"version":"0.1.0","commit":null},"machine":{},
        "lines":[{"name":"cpu","status":"ok","value":"v"}]}"#;
            put(folder.path(), "doctor/d.json", report.as_bytes());
        }
    }
    folder
}

#[test]
fn the_bytes_do_not_depend_on_the_order_in_which_files_were_made_or_read() {
    let up: Vec<u64> = (0..40).collect();
    let mut shuffled = up.clone();
    shuffled.sort_by_key(|n| (n * 17) % 41);
    let first = joined(fleet(&up).path());
    for _ in 0..3 {
        assert!(joined(fleet(&shuffled).path()) == first);
    }
    // The twin: lines in the order in which they were read, which is that of names, are other bytes.
    let folder = fleet(&up);
    let mut in_order_of_names = join(folder.path(), None, None, &|_, _| ()).unwrap();
    in_order_of_names.members.sort_by(|(a, _), (b, _)| a.file.cmp(&b.file));
    let mut bytes = Vec::new();
    in_order_of_names.write(&mut bytes).unwrap();
    assert!(bytes != first && bytes.len() == first.len());
}

#[test]
fn what_was_joined_is_read_back_whole_and_joined_again_the_same() {
    let folder = fleet(&(0..40).collect::<Vec<_>>());
    let found = inventory(folder.path());
    assert_eq!(
        (found.members.len(), found.checkups.len(), found.problems.len()),
        (40, 1, 2)
    );
    let bytes = joined(folder.path());
    for (name, stored) in [
        ("fleet.jsonl", bytes.clone()),
        ("fleet.jsonl.gz", packed(std::str::from_utf8(&bytes).unwrap())),
    ] {
        let elsewhere = tempfile::tempdir().unwrap();
        let file = elsewhere.path().join(name);
        fs::write(&file, &stored).unwrap();
        assert_eq!(read(&[file], &|_, _| ()).unwrap(), found, "{name}");
        // In a folder its problems are of the past.
        let alone = Inventory {
            problems: Vec::new(),
            ..found.clone()
        };
        assert_eq!(inventory(elsewhere.path()), alone, "{name}");
    }
    // Beside its records, nothing is counted twice; without them, nothing is lost.
    put(folder.path(), "fleet.jsonl", &bytes);
    assert!(joined(folder.path()) == bytes);
    // The records are the truth: one that was removed does not come back, whatever the earlier file's state.
    fs::remove_file(folder.path().join("07/record.json")).unwrap();
    let fewer = joined(folder.path());
    assert_eq!(inventory(folder.path()).members.len(), 39);
    assert!(fewer != bytes);
    for state in ["", "torn", r#"{"schema":"cyclewise.fleet/1","#] {
        put(folder.path(), "fleet.jsonl", state.as_bytes());
        assert!(joined(folder.path()) == fewer, "{state}");
        assert_eq!(inventory(folder.path()).problems, found.problems);
    }
    // The same of the file that will be written, under any name.
    let target = folder.path().join("mine");
    fs::write(&target, &bytes).unwrap();
    let again = join(folder.path(), Some(&target), None, &|_, _| ()).unwrap();
    assert_eq!(again.head.members, 39);
    // The twin: a joined file that the user names, and one that is not this folder's own, are read.
    assert_eq!(
        read(&[folder.path().to_owned(), target], &|_, _| ())
            .unwrap()
            .members
            .len(),
        40
    );
    assert_eq!(join(folder.path(), None, None, &|_, _| ()).unwrap().head.members, 40);
}

#[test]
fn a_torn_joined_file_is_named_and_its_whole_lines_count() {
    let bytes = joined(fleet(&(0..40).collect::<Vec<_>>()).path());
    let lines: Vec<usize> = bytes
        .iter()
        .enumerate()
        .filter(|(_, b)| **b == b'\n')
        .map(|(n, _)| n)
        .collect();
    for (cut, members) in [
        (lines[10] + 1, 10),
        (lines[10] + 9, 10),
        (lines[10], 9),
        (lines[0] / 2, 0),
    ] {
        let folder = folder(&[("fleet.jsonl", &bytes[..cut])]);
        let found = inventory(folder.path());
        assert_eq!(found.members.len(), members, "{cut}");
        let [problem] = &found.problems[..] else {
            panic!("{:?}", found.problems)
        };
        assert_eq!(
            (problem.name.as_str(), problem.kind),
            ("fleet.jsonl", ProblemKind::Torn),
            "{problem:?}"
        );
    }
    let newer = bytes.replacen_schema();
    let found = inventory(folder(&[("fleet.jsonl", &newer)]).path());
    assert_eq!(
        (found.members.len(), found.problems[0].kind),
        (0, ProblemKind::Version),
        "{:?}",
        found.problems
    );
}

trait Replace {
    fn replacen_schema(&self) -> Vec<u8>;
}

impl Replace for Vec<u8> {
    fn replacen_schema(&self) -> Vec<u8> {
        let text = std::str::from_utf8(self).unwrap();
        text.replacen("cyclewise.fleet/1", "cyclewise.fleet/2", 1).into_bytes()
    }
}

#[test]
fn counts_are_of_nodes_and_of_what_records_lack() {
    let mut partial = record("n1", 9);
    partial.missing.push(crate::record::Missing {
        possible: true,
        ..Default::default()
    });
    let mut nameless = record("n1", 8);
    nameless.machine.identity.node = None;
    let folder = folder(&[
        ("a.json", text(&partial).as_bytes()),
        ("b.json", text(&record("n1", 2)).as_bytes()),
        ("c.json", text(&nameless).as_bytes()),
    ]);
    let joined = join(folder.path(), None, None, &|_, _| ()).unwrap();
    assert_eq!((joined.head.members, joined.nodes()), (3, 2));
    assert_eq!(joined.partial().collect::<Vec<_>>(), [("a.json", 1)]);
    assert_eq!(joined.head.problems, Vec::<Problem>::new());
}
