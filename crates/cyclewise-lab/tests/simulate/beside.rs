//! Recommendations, phase diagrams and the validation.

use super::*;

#[test]
fn recommend_says_what_to_take_and_its_margin() {
    let args = [
        "recommend",
        "--machine",
        "i7-6700hq",
        "--threads",
        "1,4",
        "--seeds",
        "2",
    ];
    let table = printed(&args);
    for kind in ["lockref", "reference count", "lock", "margin", "Jain"] {
        assert!(table.contains(kind), "{table}");
    }
    let json = printed(&[&args[..], &["--json", "-"]].concat());
    assert_eq!(json, printed(&[&args[..], &["--json", "-"]].concat()), "the same again");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["schema"], "cyclewise.recommendation/1");
    let choices = json["choices"].as_array().unwrap();
    assert_eq!(choices.len(), 6, "three kinds on 1 and on 4 threads");
    for choice in choices {
        let next = &choice["next"];
        assert!(next["ratio"].as_f64().unwrap() > 0.0 && next["ratio_ci95"].as_array().unwrap().len() == 2);
        assert!(["faster", "slower", "undecided"].contains(&next["verdict"].as_str().unwrap()));
        // A share of one thread of four at least; every thread's where there is one.
        let jain = choice["jain"].as_f64().unwrap();
        assert!(
            (0.25..=1.0 + 1e-9).contains(&jain) && choice["starving"].is_array(),
            "{choice}"
        );
        // The recommended limit is indistinguishable from the best.
        assert!(choice["alike"].as_array().unwrap().contains(&choice["take"]));
    }
}

#[test]
fn a_phase_diagram_has_every_cell() {
    let folder = Folder::new();
    let (csv, html) = (folder.name("p.csv"), folder.name("p.html"));
    let args = ["simulate", "phase", "--machine", "i7-6700hq", "--threads", "4"];
    let table = printed(&[&args[..], &["--csv", &csv, "--html", &html]].concat());
    assert!(table.contains("overtakes") && table.contains("itself has"), "{table}");
    let json: serde_json::Value = serde_json::from_str(&printed(&[&args[..], &["--json", "-"]].concat())).unwrap();
    assert_eq!(json["schema"], "cyclewise.phase/1");
    let cells: usize = json["cells"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row.as_array().unwrap().len())
        .sum();
    assert_eq!(folder.read("p.csv").lines().count(), cells + 1);
    assert!(folder.read("p.html").contains("Retries per success"));
    let (status, said) = refused(&["simulate", "phase", "--machine", "i7-6700hq", "--threads", "99"]);
    assert!(status == 2 && said.contains("do not fit"), "{said}");
}

#[test]
fn examine_ends_with_1_where_a_kind_is_further_off_than_asked_and_only_there() {
    let folder = Folder::new();
    let markdown = folder.name("e.md");
    let output = cyclewise(&["simulate", "examine", "--markdown", &markdown]);
    let (table, said) = (text(&output.stdout), text(&output.stderr));
    assert!(table.contains("kinds as near as asked"), "{table}");
    assert_eq!(
        output.status.code(),
        Some(i32::from(table.contains("MISSED"))),
        "{table}\n{said}"
    );
    assert_eq!(
        table.contains("MISSED"),
        said.contains("further off than asked"),
        "{said}"
    );
    let document = folder.read("e.md");
    assert!(
        document.starts_with("# ") && document.contains("## Refused"),
        "{document}"
    );
    let to_stdout = cyclewise(&["simulate", "examine", "--markdown", "-"]);
    assert_eq!(text(&to_stdout.stdout), document);
}

#[test]
fn validate_ends_with_1_where_a_target_is_missed_and_only_there() {
    let folder = Folder::new();
    let (markdown, json) = (folder.name("v.md"), folder.name("v.json"));
    let output = cyclewise(&["simulate", "validate", "--markdown", &markdown, "--json", &json]);
    let (table, said) = (text(&output.stdout), text(&output.stderr));
    assert!(table.contains("targets met"), "{table}");
    let missed = table.matches("MISSED").count();
    assert_eq!(output.status.code(), Some(i32::from(missed > 0)), "{said}");
    assert_eq!(missed > 0, said.contains(&format!("{missed} of ")), "{said}");
    let report: serde_json::Value = serde_json::from_str(&folder.read("v.json")).unwrap();
    assert!(!report["targets"].as_array().unwrap().is_empty());
    assert!(folder.read("v.md").starts_with("# "));
}

/// The column `cyclewise` of the report's rows is a command, and its seeds give the row's mean.
#[test]
fn a_row_of_the_report_comes_out_of_the_command_beside_it() {
    let report = include_str!("../../../cyclewise-sim/VALIDATION.md");
    for row in [
        "| i7-6700HQ | lock-ttas, pause | 4 |",
        "| i5-1035G4 | lock-ticket | 3 |",
        "| AWS Graviton2 | cas-loop | 16 |",
    ] {
        let line = report.lines().find(|line| line.starts_with(row)).expect(row);
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let (simulated, command) = (cells[5], cells[8].trim_matches('`'));
        let mean: f64 = simulated.split(' ').next().unwrap().parse().expect(simulated);
        let of_seed = |seed: u32| {
            let seed = seed.to_string();
            let args: Vec<&str> = command.split(' ').chain(["--seed", &seed, "--json", "-"]).collect();
            let json: serde_json::Value = serde_json::from_str(&printed(&args)).unwrap();
            let outcome = &json["points"][0]["outcome"];
            assert!(
                outcome["stationary"].is_boolean() && outcome["warm_up_ops"].as_u64() > Some(0),
                "{outcome}"
            );
            outcome["ns_per_op"].as_f64().unwrap()
        };
        let found = (1..=5).map(of_seed).sum::<f64>() / 5.0;
        assert!((found - mean).abs() <= 0.05 + 1e-9, "{command}: {found}, {simulated}");
    }
}

#[test]
fn a_start_is_taken_by_name_and_work_is_the_workloads_own() {
    let json = |rest: &[&str]| -> serde_json::Value {
        let args = [
            &[
                "simulate",
                "open-read-close",
                "--machine",
                "i7-6700k",
                "--threads",
                "4",
                "--ops",
                "50",
                "--json",
                "-",
            ],
            rest,
        ]
        .concat();
        serde_json::from_str(&printed(&args)).unwrap()
    };
    let default = json(&[]);
    assert_eq!(default["sweep"]["start"], "scattered");
    assert_eq!(default["points"][0]["job"]["parallel_cycles"], 5000);
    let crowd = json(&["--start", "crowd", "--parallel", "0"]);
    assert_eq!(crowd["sweep"]["start"], "crowd");
    assert_eq!(crowd["points"][0]["job"]["parallel_cycles"], 0);
    let (status, said) = refused(&["simulate", "fetch-add", "--machine", "i7-6700k", "--start", "mob"]);
    assert_eq!(status, 2, "{said}");
    assert!(said.contains("scattered"), "{said}");
}
