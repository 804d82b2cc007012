//! `fleet plan verify …`: the promises on each node, and the nodes where one broke.

use super::*;
use cyclewise_bench::record::fleet_report::FleetReport;
use std::process::Command;

/// What `verify` writes on a node where a promise has this outcome.
fn verification(node: &str, holds: &str) -> String {
    format!(
        r#"{{"schema":"cyclewise.verify/1","what":"percpu","checks":[{{"name":"sums-are-exact","promise":"no count is lost",
        "seen":"3 of 9000 are lost","tries":9000,"events":3,"holds":{holds}}}],"notes":[],"created":"2026-11-28T18:00:00Z",
        "tool":{{"version":"0.1.0","commit":null}},"machine":{{"identity":{{"node":"{node}"}}}}}}"#
    )
}

#[test]
fn a_planned_verification_runs_on_a_node_and_is_joined() {
    let folder = Folder::new();
    let dir = folder.name("job");
    let planned = plan(&dir, &["--nodes", "1"], &["verify", "refs", "--seconds", "0.1"]);
    assert!(
        stdout(&planned).starts_with("a verification of one node; "),
        "{}",
        stderr(&planned)
    );
    let output = Command::new("sh").arg(folder.path("job/local")).output().unwrap();
    let said = stdout(&output);
    assert!(
        said.contains("0 records of 0 nodes, 1 verification of 1 node, "),
        "{said}{}",
        stderr(&output)
    );
    // The twin: a node that was to be verified and was not is missing.
    folder.with("job/nodes/local-away", "away\n");
    let output = cyclewise(&["fleet", "join", &dir]);
    assert_eq!(output.status.code(), Some(1));
    assert_says!(stdout(&output), "missing: away: ");
    assert_says!(stderr(&output), "1 node without a verification");
}

#[test]
fn nodes_where_a_promise_broke_are_named_with_the_evidence() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("fleet")).unwrap();
    for (node, holds) in [("n1", "true"), ("n2", "false"), ("n3", "null")] {
        folder.with(&format!("fleet/{node}.json"), &verification(node, holds));
    }
    let dir = folder.name("fleet");
    let output = cyclewise(&["fleet", "join", &dir]);
    assert_eq!(output.status.code(), Some(1));
    assert_says!(stderr(&output), "promises broke on n2\n");
    let said = stdout(&output);
    assert_says!(said, "broken: n2: percpu sums-are-exact: 3 of 9000 are lost");
    // From the joined file as from the folder.
    for source in [dir.clone(), folder.name("fleet/fleet.jsonl")] {
        let (json, html) = (folder.name("r.json"), folder.name("r.html"));
        let table = printed(&["fleet", "report", &source, "--json", &json, "--html", &html]);
        assert_says!(
            table,
            "verify percpu: promises broke on 1 of 3 nodes; 1 promise not shown"
        );
        let report: FleetReport = serde_json::from_str(&folder.read("r.json")).unwrap();
        assert_eq!(
            (&*report.verified[0].broken[0].node, report.verified[0].nodes),
            ("n2", 3)
        );
        let page = visible::text(&folder.read("r.html"));
        assert_says!(page, "n2: percpu sums-are-exact: 3 of 9000 are lost");
    }
    // The twin: where all hold, the join ends well.
    folder.with("fleet/n2.json", &verification("n2", "true"));
    assert_done(&cyclewise(&["fleet", "join", &dir]));
}

#[test]
fn a_verification_with_an_output_or_wrong_words_is_refused() {
    let folder = Folder::new();
    let dir = folder.name("job");
    for (words, says) in [
        (&["verify", "refs", "--json", "x"][..], "leave --json out"),
        (&["verify", "refs", "--cpu", "0"], "--cpu pins one thread"),
        (&["verify", "nothing"], "nothing"),
    ] {
        let (status, said) = refused(&[&["fleet", "plan", "--into", &dir, "--nodes", "2"], words].concat());
        assert!(status == 2 && said.contains(says), "{words:?}: {status} {said}");
    }
    assert!(!folder.path("job").exists());
}
