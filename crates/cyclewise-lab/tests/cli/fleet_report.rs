//! `fleet report`, and `compare` of more than two records, which is its small form.

use super::{RECORD, refused, stderr, stdout};
use crate::common::{Folder, cyclewise};
use cyclewise_lab::record::compare::CompareReport;
use cyclewise_lab::record::fleet_report::FleetReport;
use cyclewise_lab::record::{self, Record};
use std::sync::LazyLock;

/// Machines of the made-up fleet.
const MACHINES: usize = 24;
/// The one that is ill, and how much slower.
const ILL: (usize, f64) = (17, 1.9);

/// The record of one node: every figure of `percpu` multiplied by `factor`.
fn node(n: usize, factor: f64) -> String {
    static PERCPU: LazyLock<Record> = LazyLock::new(|| {
        let mut record = record::from_str("r", RECORD).unwrap();
        record.experiments.retain(|e| e.name == "percpu");
        record
    });
    let mut record = PERCPU.clone();
    record.machine.identity.node = Some(format!("node-{n:02}"));
    record.created = format!("2026-11-23T10:{n:02}:00Z");
    // Less than a per cent, and the same each time.
    let factor = factor * (1.0 + 0.002 * ((n * 37 % 11) as f64 - 5.0) / 5.0);
    for v in record.experiments.iter_mut().flat_map(|e| &mut e.variants) {
        v.samples.truncate(40);
        v.sample_states.clear();
        v.n = v.samples.len();
        v.samples.iter_mut().for_each(|s| *s *= factor);
        v.median *= factor;
        v.mean *= factor;
        if let Some(headline) = &mut v.headline {
            headline.median *= factor;
            headline.ci95 = headline.ci95.map(|bound| bound.map(|b| b * factor));
        }
        v.between = None;
    }
    record.runs.clear();
    serde_json::to_string(&record).unwrap()
}

/// A folder of records with one that is ill and a file that is none.
fn fleet(folder: &Folder) -> String {
    std::fs::create_dir(folder.path("fleet")).unwrap();
    for n in 0..MACHINES {
        let factor = if n == ILL.0 { ILL.1 } else { 1.0 };
        folder.with(&format!("fleet/{n}.json"), &node(n, factor));
    }
    folder.with("fleet/torn.json", &RECORD[..RECORD.len() / 2]);
    folder.name("fleet")
}

#[test]
fn every_output_names_the_ill_machine_and_the_torn_file() {
    let folder = Folder::new();
    let dir = fleet(&folder);
    let names = ["r.json", "r.csv.gz", "r.prom", "r.html"].map(|name| folder.name(name));
    let [json, csv, metrics, page] = &names;
    let output = cyclewise(&[
        "fleet",
        "report",
        &dir,
        "--json",
        json,
        "--csv",
        csv,
        "--openmetrics",
        metrics,
        "--html",
        page,
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let table = stdout(&output);
    assert!(table.contains("node-17: ") && table.contains("torn.json"), "{table}");
    let said = stderr(&output);
    for name in &names {
        assert!(said.contains(&format!("wrote {name}")), "{said}");
    }
    let report: FleetReport = serde_json::from_str(&folder.read("r.json")).unwrap();
    assert_eq!(report.machines.len(), MACHINES);
    let named: Vec<&str> = report
        .outliers
        .iter()
        .map(|o| &*report.machines[o.machine].name)
        .collect();
    assert!(
        named.iter().all(|name| *name == "node-17") && !named.is_empty(),
        "{named:?}"
    );
    assert!(folder.read("r.html").contains("node-17") && folder.read("r.html").contains("<svg"));
    assert!(folder.read("r.prom").ends_with("# EOF\n"));
    let lines = record::read(&folder.path("r.csv.gz")).unwrap();
    let rows: usize = report.rows.iter().map(|r| r.machines).sum();
    assert_eq!(lines.lines().count(), 1 + rows);
    let outliers = lines
        .lines()
        .filter(|l| l.contains(",true,") && l.starts_with("node-17"));
    assert!(outliers.count() >= report.outliers.len());
}

#[test]
fn a_document_on_stdout_is_alone_there() {
    let folder = Folder::new();
    let dir = fleet(&folder);
    let output = cyclewise(&["fleet", "report", &dir, "--json", "-", "--by", "arch,kernel"]);
    let report: FleetReport = serde_json::from_str(&stdout(&output)).unwrap();
    let facts: Vec<&str> = report.groups[0].facts.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(facts, ["arch", "kernel"]);
    let metrics = stdout(&cyclewise(&["fleet", "report", &dir, "--openmetrics", "-"]));
    assert!(
        metrics.starts_with("# TYPE ") && metrics.ends_with("# EOF\n"),
        "{metrics}"
    );
}

#[test]
fn wrong_use_is_said_in_one_line_before_the_work() {
    let folder = Folder::new();
    let dir = fleet(&folder);
    let empty = folder.name("empty");
    std::fs::create_dir(&empty).unwrap();
    let torn = folder.with("torn.json", "{");
    let json = folder.name("r.json");
    for (args, says) in [
        (vec!["fleet", "report"], "required"),
        (vec!["fleet", "report", &empty], "no records"),
        (vec!["fleet", "report", &torn], "no records"),
        (vec!["fleet", "report", "/no/such/folder"], "/no/such/folder"),
        (vec!["fleet", "report", &dir, "--fdr", "0"], "false discovery rate"),
        (vec!["fleet", "report", &dir, "--fdr", "1.5"], "false discovery rate"),
        (vec!["fleet", "report", &dir, "--fdr", "NaN"], "false discovery rate"),
        (vec!["fleet", "report", &dir, "--by", "kernl"], "kernel"),
        (
            vec!["fleet", "report", &dir, "--html", "/no/such/folder/p.html"],
            "does not exist",
        ),
        (
            vec!["fleet", "report", &dir, "--json", &json, "--csv", &json],
            "give each its own file",
        ),
        (
            vec!["fleet", "report", &dir, "--json", "-", "--csv", "-"],
            "cannot all write to stdout",
        ),
        (vec!["fleet", "report", &torn, "--csv", &torn], "input file"),
    ] {
        let (status, line) = refused(&args);
        let whole = stderr(&cyclewise(&args));
        assert!(
            status == 2 && (line.contains(says) || whole.contains(says)),
            "{args:?}: {status} {line}"
        );
    }
    assert!(!folder.path("r.json").exists());
}

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
    assert!(html.contains("All records side by side") && html.contains("By experiment"));
    let table = stdout(&cyclewise(&[&["compare"], &records[..]].concat()));
    let at = |text: &str| table.find(text).unwrap_or_else(|| panic!("{text}: {table}"));
    assert!(at("Headline rows") < at("Each against A") && at("Each against A") < at("in B"));
    // Two records are compared as before: the twin, in which nothing is said of all.
    let two = cyclewise(&["compare", records[0], records[1], "--json", "-"]);
    assert!(!stdout(&two).contains("\"fleet\""));
    assert!(!stdout(&cyclewise(&["compare", records[0], records[1]])).contains("Headline rows"));
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
    assert!(
        table.contains("(AD)") && table.contains("29 records with A are in --json"),
        "{table}"
    );
    assert!(
        !table.contains("Each against A") && table.lines().count() < 120,
        "{table}"
    );
    let page = folder.name("c.html");
    let json = stdout(&cyclewise(
        &[&["compare"], &many[..], &["--json", "-", "--html", &page]].concat(),
    ));
    let report: CompareReport = serde_json::from_str(&json).unwrap();
    assert!(report.experiments[0].rows.iter().any(|r| r.other == 29));
    let html = folder.read("c.html");
    assert!(
        html.contains("Comparison of 30 records") && html.len() < 1_000_000,
        "{}",
        html.len()
    );
}
