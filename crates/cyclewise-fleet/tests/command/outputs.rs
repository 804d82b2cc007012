//! What `fleet` writes never replaces what it reads, and a document that was lost is an error.

use super::{Folder, SMALL, assert_done, command, cyclewise, plan, stderr, words};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Output, Stdio};

/// A folder with the plan of a sweep and its shards, and one with records.
fn sweep() -> Folder {
    let folder = Folder::new();
    let dir = folder.name("");
    let sweep = "simulate lockref --machine thunderx2 --threads 1,2 --ops 50";
    assert_done(&plan(&dir, &["--shards", "1"], &words(sweep)));
    let shard = format!("{sweep} --shard 1/1 --json {dir}shards/1.json");
    assert_done(&cyclewise(&words(&shard)));
    folder
}

fn records() -> Folder {
    let folder = Folder::new();
    for part in ["records", "nodes"] {
        fs::create_dir(folder.path(part)).unwrap();
    }
    folder.with("records/n1.json", SMALL);
    folder.with("other.json", SMALL);
    folder.with("nodes/7", "n1\n");
    folder
}

#[track_caller]
fn refused(folder: &Folder, command: &[&str], option: &str, target: &str) {
    let dir = folder.name("");
    let before = fs::read(folder.path(target)).ok();
    let output = cyclewise(&[&["fleet"], command, &[&dir, option, &folder.name(target)]].concat());
    assert_eq!(output.status.code(), Some(2), "{target}: {}", stderr(&output));
    assert!(
        stderr(&output).contains("name another file"),
        "{target}: {}",
        stderr(&output)
    );
    assert_eq!(fs::read(folder.path(target)).ok(), before, "{target}");
}

#[test]
fn join_replaces_nothing_that_it_reads() {
    let folder = sweep();
    fs::hard_link(folder.path("shards/1.json"), folder.path("again.json")).unwrap();
    for target in [
        "shards/1.json",
        "shards/new.json",
        "plan.json",
        "submit",
        "again.json",
        "logs/x.json",
    ] {
        refused(&folder, &["join"], "--json", target);
    }
    // The twin: other names are written, twice.
    fs::remove_file(folder.path("again.json")).unwrap();
    for _ in 0..2 {
        for target in ["joined.json", "mine.json", "mine.json.gz"] {
            let output = cyclewise(&["fleet", "join", &folder.name(""), "--json", &folder.name(target)]);
            assert_eq!(output.status.code(), Some(0), "{target}: {}", stderr(&output));
        }
    }
    let folder = records();
    for target in ["records/n1.json", "records/x.json.gz", "nodes/7", "other.json"] {
        refused(&folder, &["join"], "--json", target);
    }
    for _ in 0..2 {
        let output = cyclewise(&["fleet", "join", &folder.name(""), "--json", &folder.name("mine.jsonl")]);
        assert!(
            folder
                .read("mine.jsonl")
                .starts_with(r#"{"schema":"cyclewise.fleet/1""#),
            "{}",
            stderr(&output)
        );
    }
}

#[test]
fn report_replaces_nothing_that_it_reads() {
    let folder = records();
    for option in ["--json", "--csv", "--html", "--openmetrics"] {
        refused(&folder, &["report"], option, "records/n1.json");
    }
    for _ in 0..2 {
        let dir = folder.name("");
        let line = format!(
            "fleet report {dir} --json {dir}r.json --csv {dir}r.csv --html {dir}r.html --openmetrics {dir}r.prom"
        );
        assert_done(&cyclewise(&words(&line)));
    }
}

#[test]
fn a_file_that_its_owner_made_read_only_is_not_replaced() {
    let folder = sweep();
    let old = folder.with("joined.json", "what was there");
    fs::set_permissions(&old, fs::Permissions::from_mode(0o444)).unwrap();
    if fs::OpenOptions::new().append(true).open(&old).is_ok() {
        println!("skipped: this user may write any file");
        return;
    }
    let output = cyclewise(&["fleet", "join", &folder.name("")]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert_eq!(folder.read("joined.json"), "what was there");
}

/// What a command says whose output is a device that is always full.
fn on_full(args: &[&str]) -> Output {
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    command(args).stdout(full).stderr(Stdio::piped()).output().unwrap()
}

#[test]
fn a_document_that_stdout_does_not_take_is_an_error() {
    let (sweep, records) = (sweep(), records());
    let record = records.name("other.json");
    for args in [
        &["fleet", "join", &sweep.name(""), "--json", "-"][..],
        &["fleet", "join", &records.name("records"), "--json", "-"],
        &["fleet", "report", &record, "--json", "-"],
        &["report", &sweep.name("shards/1.json"), "--json", "-"],
        &["run", "null-syscall", "--quick", "--json", "-"],
    ] {
        let output = on_full(args);
        assert_eq!(output.status.code(), Some(3), "{args:?}: {}", stderr(&output));
        assert!(
            stderr(&output).contains("writing to stdout"),
            "{args:?}: {}",
            stderr(&output)
        );
    }
}
