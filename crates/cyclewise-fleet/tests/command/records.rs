//! `fleet join` of records: mangled files are named and end nothing, and what is missing is named with the command that makes it.

use super::mangle::KINDS;
use super::{Folder, SMALL, assert_done, common, cyclewise, plan, stderr, stdout};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus as Dice;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::net::UnixListener;
use std::process::Command;

fn record_of(node: &str) -> String {
    let machine = format!(r#""identity":{{"node":"{node}"}},"steal_ticks""#);
    let text = SMALL.replacen("\"steal_ticks\"", &machine, 1);
    assert!(text.contains(node));
    text
}

/// The record of a node that the plan of `run null-syscall --quick` asks for.
fn planned(folder: &Folder, node: &str) -> String {
    let plan: serde_json::Value = serde_json::from_str(&folder.read("plan.json")).unwrap();
    let mut record: serde_json::Value = serde_json::from_str(&record_of(node)).unwrap();
    record["tool"] = plan["tool"].clone();
    record["command"] = plan["command"].clone();
    let command = record["command"].as_array_mut().unwrap();
    command.extend(["--json", "records/x.json.gz"].map(Into::into));
    record.to_string()
}

/// The joined file's head, and the number of lines after it.
fn joined(folder: &Folder) -> (serde_json::Value, usize) {
    let text = folder.read("fleet.jsonl");
    let mut lines = text.lines();
    (serde_json::from_str(lines.next().unwrap()).unwrap(), lines.count())
}

/// Name and kind of each problem of the joined file.
fn problems(head: &serde_json::Value) -> BTreeMap<String, String> {
    let problems = head["problems"].as_array().unwrap().iter();
    let word = |p: &serde_json::Value, key: &str| p[key].as_str().unwrap().to_owned();
    problems.map(|p| (word(p, "name"), word(p, "kind"))).collect()
}

/// Two files of each kind are named by a kind that fits, and none of the good ones is.
#[test]
fn every_way_of_mangling_is_named_and_none_is_fatal() {
    let folder = Folder::new();
    let good = ["n1", "n2", "n3", "n4", "n5"];
    for node in good {
        folder.with(&format!("{node}.json"), &record_of(node));
    }
    let mut expected = BTreeMap::new();
    for (n, kind) in KINDS.iter().chain(KINDS).enumerate() {
        let name = format!("{}-{n}.json", kind.name);
        let mut dice = Dice::seed_from_u64(n as u64);
        fs::write(
            folder.path(&name),
            (kind.mangle)(&record_of(&format!("bad{n}")), &mut dice),
        )
        .unwrap();
        expected.insert(name, kind.problems);
    }
    let output = cyclewise(&["fleet", "join", &folder.name("")]);
    assert_eq!(output.status.code(), Some(1), "some are torn: {}", stderr(&output));
    let (head, lines) = joined(&folder);
    assert_eq!((head["members"].as_u64(), lines), (Some(5), 5));
    let found = problems(&head);
    assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
    for (name, kinds) in &expected {
        assert!(
            kinds.contains(&found[name].as_str()),
            "{name} is {}, not {kinds:?}",
            found[name]
        );
    }
    let said = stdout(&output);
    assert!(
        said.starts_with("5 records of 5 nodes, and 0 reports of doctor\n"),
        "{said}"
    );
    assert!(!said.replace('\n', "").contains(char::is_control), "{said:?}");
}

/// The twin: a record that is whole is no problem, however it is stored, so the names above are those of mangled files alone.
#[test]
fn a_whole_record_is_not_named() {
    let folder = Folder::new();
    let value: serde_json::Value = serde_json::from_str(&record_of("n1")).unwrap();
    folder.with("sorted.json", &serde_json::to_string_pretty(&value).unwrap());
    folder.with(
        "later-version.json",
        &record_of("n2").replacen('{', r#"{"a field of later":[1],"#, 1),
    );
    let output = cyclewise(&["fleet", "join", &folder.name("")]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(problems(&joined(&folder).0), BTreeMap::new());
}

#[test]
fn nothing_that_is_no_file_is_opened_and_links_do_not_loop() {
    let folder = Folder::new();
    folder.with("a.json", &record_of("n1"));
    let socket = UnixListener::bind(folder.path("socket.json")).unwrap();
    let fifo = Command::new("mkfifo").arg(folder.path("fifo.json")).status();
    let mut names = vec!["device.json", "loop", "nothing.json", "socket.json", "to-itself"];
    match fifo {
        Ok(status) if status.success() => names.insert(1, "fifo.json"),
        other => println!("skipped: no FIFO, because mkfifo says {other:?}"),
    }
    let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, folder.path(name)).unwrap();
    link("/dev/zero", "device.json");
    link(".", "loop");
    link("/does/not/exist", "nothing.json");
    link("to-itself", "to-itself");
    // A link to a file is that file, which counts once.
    link("a.json", "b.json");
    let output = cyclewise(&["fleet", "join", &folder.name("")]);
    drop(socket);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let (head, lines) = joined(&folder);
    let mut expected: Vec<(&str, &str)> = names.iter().map(|name| (*name, "foreign")).collect();
    expected.insert(0, ("b.json", "duplicate"));
    let found = problems(&head);
    let found: Vec<(&str, &str)> = found
        .iter()
        .map(|(name, kind)| (name.as_str(), kind.as_str()))
        .collect();
    assert_eq!((found, lines), (expected, 1));
}

#[test]
fn a_node_without_a_record_is_named_with_the_command_that_makes_it() {
    let folder = Folder::new();
    let dir = folder.name("");
    assert_done(&plan(&dir, &["--nodes", "3"], &["run", "null-syscall", "--quick"]));
    fs::create_dir_all(folder.path("nodes")).unwrap();
    fs::create_dir_all(folder.path("records")).unwrap();
    folder.with("nodes/9", "n1\nn2\nn3\n");
    folder.with("records/n2-9.json", &planned(&folder, "n2"));
    let output = cyclewise(&["fleet", "join", &dir]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        stderr(&output)
            .lines()
            .filter(|l| l.contains("2 nodes without a record"))
            .count(),
        1,
        "{}",
        stderr(&output)
    );
    let said = stdout(&output);
    assert_says!(
        said,
        "missing: n1: job 9",
        "missing: n3: job 9",
        "sbatch --nodes=2 --nodelist="
    );
    let words = shlex::split(said.lines().find(|line| line.contains("sbatch")).unwrap()).unwrap();
    assert!(words.contains(&"--nodelist=n1,n3".to_owned()), "{said}");
    // The twin: with all records there is nothing to say.
    folder.with("records/n1-10.json", &planned(&folder, "n1"));
    folder.with("records/n3-10.json", &planned(&folder, "n3"));
    let output = cyclewise(&["fleet", "join", &dir]);
    assert_eq!(
        (output.status.code(), stdout(&output).lines().count()),
        (Some(0), 5),
        "{}",
        stdout(&output)
    );
    // Nodes without a report of doctor are named, and that is no failure.
    assert_says!(stdout(&output), "no report of doctor: n2\n");
    // One node that calls itself anonymous does not hide the others.
    folder.with("nodes/9", "anonymous-1\nn1\nn2\nn3\nn4\n");
    let said = stdout(&cyclewise(&["fleet", "join", &dir]));
    assert_says!(said, "--nodelist='anonymous-1,n4'");
    // Records that the plan does not ask for do not count.
    let other = planned(&folder, "n1").replacen("null-syscall", "popf", 1);
    folder.with("records/n1-10.json", &other);
    let version = planned(&folder, "n3").replacen("\"version\":\"", "\"version\":\"9.", 1);
    folder.with("records/n3-10.json", &version);
    let output = cyclewise(&["fleet", "join", &dir]);
    let said = stdout(&output);
    assert_eq!(output.status.code(), Some(1));
    assert_says!(
        said,
        "1 record of 1 node,",
        "missing: n1: ",
        "missing: n3: ",
        "foreign: records/n1-10.json: is of `run popf",
        "another version: records/n3-10.json: cyclewise 9.",
        "plan again in a new folder"
    );
    assert_lacks!(said, "sbatch");
}

#[test]
fn a_folder_without_records_and_a_folder_that_is_not_there_are_one_line() {
    let folder = Folder::new();
    for (dir, says) in [
        (folder.name(""), "neither records nor"),
        (folder.name("no"), "give a folder of records"),
    ] {
        let (status, text) = common::refused(&["fleet", "join", &dir]);
        assert_eq!(status, 2, "{text}");
        assert!(text.contains(says), "{text}");
        assert!(!folder.path("fleet.jsonl").exists());
    }
}
