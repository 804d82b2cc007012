//! `fleet report`: every output names the planted machine; a usage error is reported before the work.

use super::nodes::node;
use super::{Folder, assert_done, cyclewise, refused, stderr, stdout, words};
use cyclewise_bench::record;
use cyclewise_bench::record::fleet_report::FleetReport;

/// Machines of the made-up fleet.
const MACHINES: usize = 24;
/// The one that is ill, and how much slower.
const ILL: (usize, f64) = (17, 1.9);

/// A folder of records with one that is ill and a file that is none.
fn fleet(folder: &Folder) -> String {
    std::fs::create_dir(folder.path("fleet")).unwrap();
    for n in 0..MACHINES {
        let factor = if n == ILL.0 { ILL.1 } else { 1.0 };
        folder.with(&format!("fleet/{n}.json"), &node(n, factor));
    }
    folder.with("fleet/torn.json", &node(0, 1.0)[..5000]);
    folder.name("fleet")
}

#[test]
fn every_output_names_the_ill_machine_and_the_torn_file() {
    let folder = Folder::new();
    let dir = fleet(&folder);
    let names = ["r.json", "r.csv.gz", "r.prom", "r.html"].map(|name| folder.name(name));
    let [json, csv, metrics, page] = &names;
    let line = format!("fleet report {dir} --json {json} --csv {csv} --openmetrics {metrics} --html {page}");
    let output = cyclewise(&words(&line));
    assert_done(&output);
    let table = stdout(&output);
    assert_says!(table, "node-17: ", "torn.json");
    let said = stderr(&output);
    for name in &names {
        assert_says!(said, &format!("wrote {name}"));
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
    assert_says!(folder.read("r.html"), "node-17", "<svg");
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
        let (status, said) = refused(&args);
        assert!(status == 2 && said.contains(says), "{args:?}: {status} {said}");
    }
    assert!(!folder.path("r.json").exists());
}
