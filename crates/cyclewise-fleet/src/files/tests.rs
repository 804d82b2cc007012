//! Folders made up for the test: what is read, what is named, and what counts once.

use super::{Inventory, read};
use crate::record::fleet::ProblemKind;
use crate::record::{Experiment, Job, Machine, Missing, Record, SCHEMA, Variant};
use flate2::{Compression, write::GzEncoder};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A record of a node, whose figures follow from `seed`.
pub(super) fn record(node: &str, seed: u64) -> Record {
    let variant = |name: &str, value: f64| Variant {
        name: name.to_owned(),
        n: 3,
        mean: value,
        median: value,
        min: value,
        samples: vec![value; 3],
        ..Variant::default()
    };
    let mut machine = Machine {
        cpu_model: "Example CPU".to_owned(),
        tsc_hz: 2.4e9,
        ..Machine::default()
    };
    machine.identity.node = Some(node.to_owned());
    Record {
        schema: SCHEMA.to_owned(),
        created: format!("2026-11-23T18:00:{:02}.000001Z", seed % 60),
        seed,
        command: vec!["run".to_owned()],
        machine,
        experiments: vec![Experiment {
            name: "null-syscall".to_owned(),
            variants: vec![variant("getpid", 100.0 + seed as f64), variant("vdso", 20.0)],
            ..Experiment::default()
        }],
        ..Record::default()
    }
}

/// The text of a record, as `run --json` writes it.
pub(super) fn text(record: &Record) -> String {
    serde_json::to_string(record).unwrap() + "\n"
}

pub(super) fn folder(files: &[(&str, &[u8])]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        put(folder.path(), name, bytes);
    }
    folder
}

/// Writes a file below the folder.
pub(super) fn put(folder: &Path, name: &str, bytes: &[u8]) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

pub(super) fn packed(text: &str) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    packer.write_all(text.as_bytes()).unwrap();
    packer.finish().unwrap()
}

pub(super) fn inventory(folder: &Path) -> Inventory {
    read(&[folder.to_owned()], &|_, _| ()).unwrap()
}

fn files(inventory: &Inventory) -> Vec<&str> {
    inventory.members.iter().map(|m| m.file.as_str()).collect()
}

/// Name and kind of each problem.
fn problems(inventory: &Inventory) -> Vec<(&str, ProblemKind)> {
    inventory.problems.iter().map(|p| (p.name.as_str(), p.kind)).collect()
}

#[test]
fn a_folder_is_read_however_deep_packed_or_not() {
    let one = text(&record("n1", 1));
    let two = packed(&text(&record("n2", 2)));
    let doctor = r#"{"schema":"cyclewise.doctor/1","created":"2026-11-23T18:00:00Z","tool":{"version":"0.1.0","commit":null},"machine":{},
        "lines":[{"name":"cpu","status":"ok","value":"v"}]}"#;
    let folder = folder(&[
        ("b.json", one.as_bytes()),
        ("a/b/c.json.gz", &two),
        ("doctor.json", doctor.as_bytes()),
    ]);
    let found = inventory(folder.path());
    assert_eq!(files(&found), ["b.json", "a/b/c.json.gz"], "by node");
    assert_eq!(problems(&found), []);
    assert_eq!(
        (found.checkups.len(), found.checkups[0].node.as_str()),
        (1, "doctor.json")
    );
    let member = &found.members[0];
    assert_eq!(
        (member.runs, member.rows.len(), member.rows[0].value, member.rows[0].n),
        (1, 2, 101.0, 3)
    );
    assert_eq!(
        (&*member.rows[1].variant, member.machine.cpu_model.as_str()),
        ("vdso", "Example CPU")
    );
    // One file, and several sources: the names say which.
    let file = read(&[folder.path().join("b.json")], &|_, _| ()).unwrap();
    assert_eq!(file.members.len(), 1);
    let several = read(&[folder.path().join("b.json"), folder.path().join("a")], &|_, _| ()).unwrap();
    let end = |n: usize| several.members[n].file.rsplit('/').next().unwrap().to_owned();
    assert_eq!(
        (several.members.len(), end(0), end(1)),
        (2, "b.json".to_owned(), "c.json.gz".to_owned())
    );
    let nothing = read(&[PathBuf::from("/does/not/exist")], &|_, _| ()).unwrap_err();
    assert_says!(nothing.message, "give a folder of records");
}

#[test]
fn a_copy_is_named_and_does_not_count_whatever_its_bytes() {
    let original = record("n1", 1);
    let indented = serde_json::to_string_pretty(&original).unwrap();
    let value: serde_json::Value = serde_json::from_str(&text(&original)).unwrap();
    let folder = folder(&[
        ("b.json", text(&original).as_bytes()),
        ("c.json", indented.as_bytes()),
        ("a.json.gz", &packed(&text(&original))),
        ("d.json", value.to_string().as_bytes()),
    ]);
    let found = inventory(folder.path());
    assert_eq!(files(&found), ["a.json.gz"]);
    let duplicate = ProblemKind::Duplicate;
    assert_eq!(
        problems(&found),
        [("b.json", duplicate), ("c.json", duplicate), ("d.json", duplicate)]
    );
    assert_says!(found.problems[0].why, "a.json.gz");
    // The twin: another figure is another measurement.
    put(folder.path(), "e.json", text(&record("n1", 2)).as_bytes());
    assert_eq!(files(&inventory(folder.path())), ["a.json.gz", "e.json"]);
}

#[test]
fn a_copy_with_another_figure_is_no_further_run() {
    let mut changed = record("n1", 1);
    changed.experiments[0].variants[0].median = 1.0;
    let folder = folder(&[
        ("a.json", text(&record("n1", 1)).as_bytes()),
        ("b.json", text(&changed).as_bytes()),
    ]);
    let found = inventory(folder.path());
    assert_eq!(files(&found), Vec::<&str>::new(), "the first name says nothing");
    let mangled = ProblemKind::Mangled;
    assert_eq!(problems(&found), [("a.json", mangled), ("b.json", mangled)]);
    assert_says!(found.problems[0].why, "b.json");
}

/// A record of the third task of job 9.
fn task(seed: u64, restarts: u32) -> Record {
    let mut task = record("n1", seed);
    task.command.extend(["--json".to_owned(), format!("{seed}.json")]);
    task.machine.identity.job = Some(Job {
        engine: "slurm".to_owned(),
        id: "9".to_owned(),
        task: Some(3),
        restarts,
    });
    task
}

#[test]
fn of_a_task_that_ran_twice_the_first_whole_start_counts() {
    let mut partial = task(1, 0);
    partial.missing.push(Missing {
        possible: true,
        ..Missing::default()
    });
    let folder = folder(&[
        ("a.json", text(&partial).as_bytes()),
        ("b.json", text(&task(5, 2)).as_bytes()),
        ("c.json", text(&task(3, 1)).as_bytes()),
        ("d.json", text(&task(4, 1)).as_bytes()),
    ]);
    let found = inventory(folder.path());
    assert_eq!(
        files(&found),
        ["c.json", "d.json"],
        "both runs of the start that was whole first"
    );
    assert_eq!(
        problems(&found),
        [("a.json", ProblemKind::Duplicate), ("b.json", ProblemKind::Duplicate)]
    );
    assert_says!(found.problems[0].why, "c.json");
    // The twin: another command of the same task is no second start.
    let mut other = task(9, 3);
    other.command.push("popf".to_owned());
    put(folder.path(), "e.json", text(&other).as_bytes());
    assert_eq!(files(&inventory(folder.path())), ["c.json", "d.json", "e.json"]);
}
