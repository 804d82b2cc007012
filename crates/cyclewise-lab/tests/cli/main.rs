//! The command's contract with scripts: exit status, streams, and the content of each document.

#[macro_use]
extern crate cyclewise_bench;

mod advice;
mod anonymous;
#[path = "../common/mod.rs"]
mod common;
mod documents;
mod harness;
#[path = "../common/nodes.rs"]
mod nodes;
mod products;
mod records;
mod ring0;
mod run;
mod side_by_side;
mod signals;
mod verify;
mod widths;

use common::{Folder, command, cyclewise, with, words};
use cyclewise_lab::record;
use std::process::{Command, Output};

fn stdout(output: &Output) -> String {
    common::text(&output.stdout)
}

fn stderr(output: &Output) -> String {
    common::text(&output.stderr)
}

/// The status and the one line with the reason.
fn refused(args: &[&str]) -> (i32, String) {
    let (status, text) = common::refused(args);
    let line = text
        .lines()
        .find(|l| l.starts_with("cyclewise:") || l.starts_with("error:"));
    (status, line.unwrap_or_else(|| panic!("{args:?}: {text}")).to_string())
}

/// A record written by `run`, for tests that need a record but no measurement.
const RECORD: &str = include_str!("../../../../records/2026-11-21-epyc-genoa-kvm-percpu.json");

#[test]
fn wrong_use_is_two_and_says_what_to_do() {
    for (args, says) in [
        (&["run", "lock-prefx"][..], "lock-prefix"),
        (&["run", "--quick", "--full"], "cannot be used with"),
        (&["run", "--time", "0"], "not a time"),
        (&["run", "null-syscall", "--cpu", "4095"], "affinity mask, which allows"),
        (
            &words("run null-syscall --json - --csv -"),
            "cannot all write to stdout",
        ),
        (
            &words("run null-syscall --html no/such/folder/x.html"),
            "does not exist",
        ),
        (&["run", "null-syscall", "--json", "/"], "is a folder"),
        (&["run", "hackbench", "--groups", "0"], "0 is not in"),
        (&["run", "open-read-close", "--threads", "0"], "0 is not"),
        (&["time"], "required"),
        (&["time", "-r", "1", "true"], "1 is not in"),
        (&["time", "-r", "2", ""], "empty"),
        (&["compare", "one.json"], "2 values"),
        (&["verify", "gravity"], "gravity"),
        (&["verify", "refs", "--seconds", "1e18"], "up to a year"),
        (&["conquer"], "conquer"),
    ] {
        let (status, line) = refused(args);
        assert_eq!(status, 2, "{args:?}: {line}");
        assert!(
            line.contains(says) || stderr(&cyclewise(args)).contains(says),
            "{args:?}: {line}"
        );
    }
}

#[test]
fn list_names_every_experiment_of_the_contract() {
    let text = stdout(&cyclewise(&["list"]));
    let json: serde_json::Value = serde_json::from_str(&stdout(&cyclewise(&["list", "--json"]))).unwrap();
    let names: Vec<&str> = json
        .as_array()
        .unwrap()
        .iter()
        .map(|e| e["name"].as_str().unwrap())
        .collect();
    for name in [
        "lock-prefix",
        "popf",
        "rdtsc",
        "null-syscall",
        "hackbench",
        "open-read-close",
        "core-to-core",
    ] {
        assert!(names.contains(&name) && text.contains(name), "{name}");
    }
}

#[test]
fn list_of_an_experiment_says_what_each_variant_is() {
    let text = stdout(&cyclewise(&["list", "clock"]));
    let line = text.lines().find(|line| line.starts_with(" recent ")).unwrap();
    assert!(line.contains("upkeep thread") && !text.contains("hackbench"), "{text}");
    let json: serde_json::Value = serde_json::from_str(&stdout(&cyclewise(&["list", "clock", "--json"]))).unwrap();
    let variants = json[0]["variants"].as_array().unwrap();
    assert!(variants.iter().any(|v| v["name"] == "recent" && v["meaning"] != ""));
    let (status, line) = refused(&["list", "clocks"]);
    assert_eq!(status, 2, "{line}");
    assert_says!(line, "there is no experiment");
}

#[test]
fn doctor_gives_evidence_for_every_line() {
    let json: serde_json::Value = serde_json::from_str(&stdout(&cyclewise(&["doctor", "--json"]))).unwrap();
    let lines = json["lines"].as_array().unwrap();
    assert!(lines.len() > 20);
    assert!(lines.iter().all(|l| !l["evidence"].as_str().unwrap().is_empty()));
    assert_says!(stdout(&cyclewise(&["doctor"])), "tsc-invariant");
}

#[test]
fn a_reader_that_goes_away_is_no_panic() {
    let program = env!("CARGO_BIN_EXE_cyclewise");
    let output = Command::new("sh")
        .args(["-c", &format!("'{program}' doctor | head -n 1")])
        .output()
        .unwrap();
    assert_lacks!(stderr(&output), "panic");
}
