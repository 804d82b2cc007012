//! `compare` of more than two records, a fleet's report in its small form.

use super::nodes::node;
use super::{stderr, stdout};
use crate::common::{Folder, cyclewise};
use cyclewise_lab::record::compare::CompareReport;

#[test]
fn three_records_are_side_by_side_before_each_is_compared_with_the_first() {
    let folder = Folder::new();
    let records: Vec<String> = (0..3)
        .map(|n| folder.with(&format!("{n}.json"), &node(n, 1.0 + n as f64)))
        .collect();
    let records: Vec<&str> = records.iter().map(String::as_str).collect();
    let page = folder.name("c.html");
    let json = folder.name("c.json");
    let output = cyclewise(&[&["compare"], &records[..], &["--html", &page, "--json", &json]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let report: CompareReport = serde_json::from_str(&folder.read("c.json")).unwrap();
    let fleet = report.fleet.as_ref().unwrap();
    let names: Vec<&str> = fleet.machines.iter().map(|m| m.name.as_str()).collect();
    assert_eq!(names, ["A", "B", "C"], "one node's records stay apart");
    assert_eq!(
        fleet.rows.iter().filter(|r| r.headline).map(|r| r.values.len()).max(),
        Some(3)
    );
    let html = folder.read("c.html");
    assert_says!(html, "All records side by side", "By experiment");
    let table = stdout(&cyclewise(&[&["compare"], &records[..]].concat()));
    let at = |text: &str| table.find(text).unwrap_or_else(|| panic!("{text}: {table}"));
    assert!(at("Headline rows") < at("Each against A") && at("Each against A") < at("in B"));
    // Two records are compared as before: the twin, in which nothing is said of all.
    let two = cyclewise(&["compare", records[0], records[1], "--json", "-"]);
    assert_lacks!(stdout(&two), "\"fleet\"");
    assert_lacks!(
        stdout(&cyclewise(&["compare", records[0], records[1]])),
        "Headline rows"
    );
}

#[test]
fn many_records_have_names_beyond_z_and_their_pairs_in_the_json_alone() {
    let folder = Folder::new();
    let record = folder.with("r.json", &node(0, 1.0));
    let slow = folder.with("s.json", &node(1, 3.0));
    let many: Vec<&str> = std::iter::repeat_n(record.as_str(), 29)
        .chain([slow.as_str()])
        .collect();
    let output = cyclewise(&[&["compare"], &many[..]].concat());
    let table = stdout(&output);
    assert_says!(table, "(AD)", "29 records with A are in --json");
    assert!(table.lines().count() < 120, "{table}");
    assert_lacks!(table, "Each against A");
    let page = folder.name("c.html");
    let json = stdout(&cyclewise(
        &[&["compare"], &many[..], &["--json", "-", "--html", &page]].concat(),
    ));
    let report: CompareReport = serde_json::from_str(&json).unwrap();
    assert!(report.experiments[0].rows.iter().any(|r| r.other == 29));
    let html = folder.read("c.html");
    assert!(html.len() < 1_000_000, "{}", html.len());
    assert_says!(html, "Comparison of 30 records");
}
