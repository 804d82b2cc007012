//! Subcommands that are programs of their own: `cyclewise simulate …` becomes `cyclewise-sim simulate …`.

mod common;

use common::{Folder, command, cyclewise, refused, simulator, text};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output};

/// The command in a folder of its own, beside this script or nothing, and with no other programs.
fn alone(script: Option<&str>, args: &[&str]) -> Output {
    let folder = Folder::new();
    let program = folder.path("cyclewise");
    fs::hard_link(env!("CARGO_BIN_EXE_cyclewise"), &program)
        .or_else(|_| fs::copy(env!("CARGO_BIN_EXE_cyclewise"), &program).map(drop))
        .unwrap();
    if let Some(script) = script {
        let path = folder.path("cyclewise-sim");
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    Command::new(program)
        .args(args)
        .env("PATH", "/nowhere")
        .output()
        .unwrap()
}

#[test]
fn the_program_gets_every_word_and_its_end_is_the_commands() {
    let words = ["simulate", "a b", "--help", "--", "-x"];
    let output = alone(Some(r#"printf '<%s>' "$@"; exit 7"#), &words);
    assert_eq!(text(&output.stdout), "<simulate><a b><--help><--><-x>");
    assert_eq!(output.status.code(), Some(7));
    let output = alone(Some("kill -TERM $$"), &["recommend"]);
    assert_eq!(output.status.signal(), Some(15));
}

#[test]
fn where_it_is_missing_a_line_says_how_to_get_it() {
    let output = alone(None, &["simulate", "fetch-add"]);
    let said = text(&output.stderr);
    assert_eq!((output.status.code(), said.lines().count()), (Some(3), 1), "{said}");
    for way in [
        "cargo build --release -p cyclewise-sim",
        "cargo install --path crates/cyclewise-sim",
    ] {
        assert!(said.contains(way), "{said}");
    }
    assert!(output.stdout.is_empty());
}

#[test]
fn a_report_of_a_simulation_is_the_simulators() {
    let folder = Folder::new();
    let sweep = folder.name("sweep.json");
    let line = format!("simulate fetch-add --machine i7-6700k --threads 1,2 --ops 50 --json {sweep}");
    let words: Vec<&str> = line.split(' ').collect();
    assert_eq!(cyclewise(&words).status.code(), Some(0));
    simulator();
    let table = cyclewise(&["report", &sweep]);
    assert_eq!(table.status.code(), Some(0), "{}", text(&table.stderr));
    assert!(text(&table.stdout).contains("fetch-add"));
    let joined = command(&["report", &sweep, "--json", "-"]).output().unwrap();
    assert_eq!(text(&joined.stdout), folder.read("sweep.json"));
    let record = folder.with("record.json", r#"{"schema":"cyclewise.record/1"}"#);
    let (status, said) = refused(&["report", &sweep, &record]);
    assert!(status == 2 && said.contains("separately for simulations"), "{said}");
}
