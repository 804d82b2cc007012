//! What commands print fits a terminal of 80 columns, and no name of a user controls it.

use super::*;

const COLUMNS: usize = 80;

/// The lines that are too long, but for those without a space to break at: a path, or a line of `Usage:`, which clap does not break.
fn too_long(text: &str) -> Vec<&str> {
    let breaks = |line: &&str| line.trim().contains(' ') && !line.contains("Usage: ");
    text.lines()
        .filter(|line| line.chars().count() > COLUMNS)
        .filter(breaks)
        .collect()
}

fn printed(args: &[&str]) -> String {
    let output = command(args).env("COLUMNS", COLUMNS.to_string()).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", stderr(&output));
    stdout(&output)
}

#[test]
fn no_command_prints_a_line_of_more_than_eighty_columns() {
    let folder = Folder::new();
    let record = folder.with("r.json", RECORD);
    let timed = folder.with(
        "t.json",
        include_str!("../../../../records/2026-11-21-epyc-genoa-kvm-interpreter.json"),
    );
    let sweep = folder.name("s.json");
    let line = format!("simulate lockref --machine thunderx2 --threads 1,28 --ops 200 --json {sweep}");
    printed(&words(&line));
    let mut wide: Vec<String> = Vec::new();
    for args in [
        &["list"][..],
        &["list", "clock", "percpu-ring0"],
        &["doctor"],
        &["limits"],
        &["limits", &record],
        &["report", &record],
        &["report", &timed],
        &["report", &sweep],
        &["compare", &record, &record],
        &["verify", "refs", "--seconds", "0.1"],
        &["simulate", "list"],
        &["recommend", "--machine", "thunderx2", "--threads", "2"],
        &["--help"],
        &["run", "--help"],
        &["time", "--help"],
        &["compare", "--help"],
        &["simulate", "--help"],
    ] {
        let text = printed(args);
        assert!(!text.trim().is_empty(), "{args:?}");
        wide.extend(too_long(&text).into_iter().map(|line| format!("{args:?}: {line}")));
    }
    assert!(wide.is_empty(), "{wide:#?}");
    // The twin: in a wider terminal lines are longer.
    let wide = command(&["list"]).env("COLUMNS", "120").output().unwrap();
    assert!(!too_long(&stdout(&wide)).is_empty());
}

#[test]
fn the_name_of_a_command_reaches_the_terminal_without_controls() {
    let evil = "true #\u{1b}[2J\r\u{9b}2Jx";
    let output = command(&["time", "-r", "2", evil, "true"])
        .env("CLICOLOR_FORCE", "1")
        .output()
        .unwrap();
    if output.status.code() == Some(3) {
        return println!("skipped: {}", stderr(&output));
    }
    let said = stdout(&output) + &stderr(&output);
    assert_says!(said, "true # [2J  2Jx");
    assert!(!said.contains(['\r', '\u{9b}']), "{said:?}");
    assert_lacks!(said, "\u{1b}[2J");
}
