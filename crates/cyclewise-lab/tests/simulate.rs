//! `cyclewise simulate` and `cyclewise recommend`: what scripts depend on, and that parts and cores change no byte.

use cyclewise_lab::record::simulation;
use std::path::PathBuf;
use std::process::{Command, Output};

fn cyclewise(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cyclewise"))
        .args(args)
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// What it printed; it must have ended well.
fn printed(args: &[&str]) -> String {
    let output = cyclewise(args);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

/// The status and all that was said.
fn refused(args: &[&str]) -> (i32, String) {
    let output = cyclewise(args);
    assert!(output.stdout.is_empty(), "{args:?} printed results");
    (output.status.code().unwrap(), text(&output.stderr))
}

const SWEEP: [&str; 12] = [
    "simulate",
    "fetch-add",
    "lockref",
    "--machine",
    "i7-6700hq",
    "--threads",
    "1..4",
    "--retry-limit",
    "none,5",
    "--ops",
    "200",
    "--json",
];

fn sweep<'a>(rest: &[&'a str]) -> Vec<&'a str> {
    [&SWEEP[..], rest].concat()
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn name(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    fn shards(&self, count: u32) -> Vec<String> {
        (1..=count)
            .map(|i| {
                let name = self.name(&format!("{i}.json"));
                printed(&sweep(&[&name, "--shard", &format!("{i}/{count}")]));
                name
            })
            .collect()
    }
}

#[test]
fn a_sweep_is_whole_and_the_same_on_any_number_of_cores() {
    let json = printed(&sweep(&["-"]));
    let whole = simulation::from_str("stdout", &json).unwrap();
    assert_eq!(whole.points.len(), 4 + 2 * 4, "fetch-add has no limits");
    assert!(
        whole
            .points
            .iter()
            .all(|p| p.outcome.as_ref().is_some_and(|o| o.ops >= 200 && o.ns_per_op > 0.0))
    );
    let one_core = Command::new(env!("CARGO_BIN_EXE_cyclewise"))
        .args(sweep(&["-"]))
        .env("RAYON_NUM_THREADS", "1")
        .output()
        .unwrap();
    assert_eq!(text(&one_core.stdout), json);
}

#[test]
fn shards_join_to_the_whole_byte_for_byte() {
    let folder = Folder::new();
    let whole = printed(&sweep(&["-"]));
    let shards = folder.shards(3);
    let (json, csv, html) = (folder.name("all.json"), folder.name("all.csv"), folder.name("all.html"));
    let mut args = vec!["report", &shards[2], &shards[0], &shards[1]];
    args.extend(["--json", &json, "--csv", &csv, "--html", &html]);
    let table = printed(&args);
    assert_eq!(folder.read("all.json"), whole);
    assert!(table.contains("fetch-add") && table.contains("Mop/s"), "{table}");
    assert_eq!(folder.read("all.csv").lines().count(), 13);
    assert!(folder.read("all.html").contains("Throughput of all threads together"));
    // What was joined is read again, and is still the same.
    assert_eq!(printed(&["report", &json, "--json", "-"]), whole);
}

#[test]
fn shards_that_are_no_whole_are_refused() {
    let folder = Folder::new();
    let shards = folder.shards(2);
    let page = folder.name("p.html");
    let other = folder.name("other.json");
    printed(&sweep(&[&other, "--shard", "2/2", "--seed", "2"]));
    let record = folder.name("record.json");
    std::fs::write(&record, r#"{"schema":"cyclewise.record/1"}"#).unwrap();
    let cut = folder.name("cut.json");
    let first = folder.read("1.json");
    std::fs::write(&cut, first.replacen("\"ops\":", "\"pos\":", 1)).unwrap();
    for (files, says) in [
        (&[&shards[0]][..], "shard 2 of 2 is missing"),
        (&[&shards[0], &shards[0]], "both shard 1 of 2"),
        (&[&shards[0], &other], "another sweep"),
        (&[&shards[0], &record], "made apart"),
        (&[&cut, &shards[1]], "was changed after"),
    ] {
        let mut args = vec!["report", "--html", &page];
        args.extend(files.iter().map(|f| f.as_str()));
        let (status, said) = refused(&args);
        assert_eq!(status, 2, "{said}");
        assert!(said.contains(says), "{said}");
        assert!(said.lines().count() == 1, "one line: {said}");
    }
}

#[test]
fn another_seed_is_another_document() {
    assert_ne!(printed(&sweep(&["-"])), printed(&sweep(&["-", "--seed", "2"])));
}

#[test]
fn wrong_use_is_two_and_names_the_nearest() {
    for (args, says) in [
        (&["simulate"][..], "WORKLOAD"),
        (&["simulate", "lockreff", "--machine", "thunderx2"], "'lockref'"),
        (&["simulate", "lockref"], "--machine"),
        (&["simulate", "lockref", "--machine", "thunder2"], "nearest: thunderx2"),
        (
            &["simulate", "lockref", "--machine", "thunderx2", "--threads", "225"],
            "which has 224 CPUs",
        ),
        (
            &["simulate", "lockref", "--machine", "thunderx2", "--threads", "0"],
            "0 threads",
        ),
        (
            &["simulate", "lockref", "--machine", "thunderx2", "--threads", "9..1"],
            "ends before",
        ),
        (
            &["simulate", "lockref", "--machine", "thunderx2", "--relax", "yield"],
            "none of none",
        ),
        (
            &["simulate", "lockref", "--machine", "thunderx2", "--shard", "3/2"],
            "no shard 3 of 2",
        ),
        (
            &["simulate", "lockref", "--machine", "thunderx2", "--ops", "0"],
            "0 is not in",
        ),
        (
            &[
                "simulate",
                "lockref",
                "--machine",
                "thunderx2",
                "--machine",
                "thunderx2",
            ],
            "two machines",
        ),
        (
            &[
                "simulate",
                "lockref",
                "--machine",
                "thunderx2",
                "--json",
                "-",
                "--csv",
                "-",
            ],
            "all want stdout",
        ),
        (
            &[
                "simulate",
                "lockref",
                "--machine",
                "thunderx2",
                "--threads",
                "224",
                "--readers",
                "1",
            ],
            "1 readers",
        ),
        (&["recommend", "--machine", "thunderx3"], "nearest: thunderx2"),
        (&["recommend", "--machine", "i7-6700k", "--threads", "64"], "do not fit"),
        (&["recommend", "--machine", "i7-6700k", "--seeds", "1"], "1 is not in"),
        (&["report", "x.json"], "--html"),
    ] {
        let (status, said) = refused(args);
        assert_eq!(status, 2, "{args:?}: {said}");
        assert!(said.contains(says), "{args:?}: {said}");
    }
}

#[test]
fn a_machine_file_is_as_good_as_a_name_and_its_mistakes_have_a_line() {
    let folder = Folder::new();
    let name = folder.name("mine.toml");
    let preset = cyclewise_sim::Machine::preset("i7-6700hq").unwrap();
    std::fs::write(&name, preset.text).unwrap();
    let run = |machine: &str| {
        printed(&[
            "simulate",
            "cas-loop",
            "--machine",
            machine,
            "--threads",
            "2",
            "--ops",
            "100",
            "--json",
            "-",
        ])
    };
    assert_eq!(run(&name), run("i7-6700hq"));
    std::fs::write(&name, preset.text.replacen("ghz =", "hz =", 1)).unwrap();
    let (status, said) = refused(&["simulate", "cas-loop", "--machine", &name]);
    assert_eq!(status, 2);
    assert!(said.contains("mine.toml:") && said.contains("hz"), "{said}");
}

#[test]
fn the_lists_name_everything() {
    let table = printed(&["simulate", "list"]);
    let json: serde_json::Value = serde_json::from_str(&printed(&["simulate", "list", "--json"])).unwrap();
    for w in cyclewise_sim::Workload::ALL {
        assert!(table.contains(w.name()) && table.contains(w.about()), "{w}");
    }
    for preset in cyclewise_sim::Machine::presets() {
        assert!(table.contains(preset.name), "{}", preset.name);
    }
    assert_eq!(
        json["workloads"].as_array().unwrap().len(),
        cyclewise_sim::Workload::ALL.len()
    );
    assert!(
        json["machines"]
            .as_array()
            .unwrap()
            .iter()
            .all(|m| m["cpus"].as_u64().unwrap() > 0)
    );
}

#[test]
fn without_threads_they_double_to_all_cpus() {
    let json = printed(&[
        "simulate",
        "fetch-add",
        "--machine",
        "thunderx2",
        "--ops",
        "50",
        "--json",
        "-",
    ]);
    let whole = simulation::from_str("stdout", &json).unwrap();
    assert_eq!(whole.sweep.threads, [1, 2, 4, 8, 16, 32, 64, 128, 224]);
}

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
        assert!(["faster", "slower", "indistinguishable"].contains(&next["verdict"].as_str().unwrap()));
        // A share of one thread of four at least; every thread's where there is one.
        let jain = choice["jain"].as_f64().unwrap();
        assert!(
            (0.25..=1.0 + 1e-9).contains(&jain) && choice["starving"].is_array(),
            "{choice}"
        );
        // What is taken cannot be told from the best.
        assert!(choice["alike"].as_array().unwrap().contains(&choice["take"]));
    }
}

/// A record as the experiment core-to-core of a machine of two CPUs writes it.
const RECORD: &str = r#"{"schema":"cyclewise.record/1","created":"2026-01-02T03:04:05Z","tool":{"version":"0.1.0","commit":null},
"seed":1,"machine":{"arch":"x86_64","cpu_model":"Example CPU","cpus":2,"topology":{"sockets":1,"clusters":1,"cores":2,"cpus":2},
"kernel":"6.1","hypervisor":null,"tsc_hz":3e9,"core_cycles_per_tick":null,"clocksource":"tsc","governor":null,"smt":null,
"mitigations":{},"steal_ticks":0,"warnings":[]},"experiments":[{"name":"core-to-core","question":"?","source":"","unit":"ns/op",
"comparisons":[],"notes":[],"variants":[ROWS]}]}"#;

fn record() -> String {
    let rows = [
        ("socket-0-1", 20.0),
        ("fetch-add-t1", 7.0),
        ("cas-loop-t1", 12.0),
        ("fetch-add-t2", 22.0),
        ("cas-loop-t2", 54.0),
    ];
    let rows = rows.map(|(name, ns)| {
        format!(
            r#"{{"name":"{name}","n":1,"rejected":0,"mean":{ns},"sd":0.0,"median":{ns},"min":{ns},"ci95":[{ns},{ns}],"code_bytes":null,"samples":[{ns}]}}"#
        )
    });
    RECORD.replace("ROWS", &rows.join(","))
}

#[test]
fn a_fitted_machine_can_be_simulated() {
    let folder = Folder::new();
    std::fs::write(folder.path("r.json"), record()).unwrap();
    let (from, out) = (folder.name("r.json"), folder.name("mine.toml"));
    let on_stdout = printed(&["simulate", "fit", "--from", &from]);
    assert_eq!(printed(&["simulate", "fit", "--from", &from, "--out", &out]), "");
    assert_eq!(folder.read("mine.toml"), on_stdout, "the same again");
    let table = printed(&["simulate", "fetch-add", "--machine", &out, "--ops", "100"]);
    assert!(
        table.contains("Example CPU, 2 CPUs") && table.contains("fitted, not measured"),
        "{table}"
    );
    let none = folder.name("none.json");
    std::fs::write(&none, record().replace("\"core-to-core\"", "\"popf\"")).unwrap();
    let (status, said) = refused(&["simulate", "fit", "--from", &none]);
    assert!(status == 2 && said.contains("run core-to-core --json"), "{said}");
}

#[test]
fn a_phase_diagram_has_every_cell() {
    let folder = Folder::new();
    let (csv, html) = (folder.name("p.csv"), folder.name("p.html"));
    let args = ["simulate", "phase", "--machine", "i7-6700hq", "--threads", "4"];
    let table = printed(&[&args[..], &["--csv", &csv, "--html", &html]].concat());
    assert!(table.contains("may overtake") && table.contains("itself:"), "{table}");
    let json: serde_json::Value = serde_json::from_str(&printed(&[&args[..], &["--json", "-"]].concat())).unwrap();
    assert_eq!(json["schema"], "cyclewise.phase/1");
    let cells: usize = json["cells"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row.as_array().unwrap().len())
        .sum();
    assert_eq!(folder.read("p.csv").lines().count(), cells + 1);
    assert!(folder.read("p.html").contains("Retries for each success"));
    let (status, said) = refused(&["simulate", "phase", "--machine", "i7-6700hq", "--threads", "99"]);
    assert!(status == 2 && said.contains("do not fit"), "{said}");
}

#[test]
fn validate_ends_with_1_where_a_target_is_missed_and_only_there() {
    let folder = Folder::new();
    let (markdown, json) = (folder.name("v.md"), folder.name("v.json"));
    let output = cyclewise(&["simulate", "validate", "--markdown", &markdown, "--json", &json]);
    let (table, said) = (text(&output.stdout), text(&output.stderr));
    assert!(table.contains("targets are met"), "{table}");
    let missed = table.matches("MISSED").count();
    assert_eq!(output.status.code(), Some(i32::from(missed > 0)), "{said}");
    assert_eq!(missed > 0, said.contains(&format!("{missed} of ")), "{said}");
    let report: serde_json::Value = serde_json::from_str(&folder.read("v.json")).unwrap();
    assert!(!report["targets"].as_array().unwrap().is_empty());
    assert!(folder.read("v.md").starts_with("# "));
}
