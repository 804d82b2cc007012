//! Machines by name, by file, and fitted to a record.

use super::*;

#[test]
fn a_machine_file_is_as_good_as_a_name_and_its_mistakes_have_a_line() {
    let folder = Folder::new();
    let name = folder.name("mine.toml");
    let preset = cyclewise_sim::Machine::preset("i7-6700hq").unwrap();
    std::fs::write(&name, preset.text).unwrap();
    let run = |machine: &str| {
        let line = "simulate cas-loop --threads 2 --ops 100 --json - --machine";
        printed(&with(line, &[machine]))
    };
    assert_eq!(run(&name), run("i7-6700hq"));
    std::fs::write(&name, preset.text.replacen("ghz =", "hz =", 1)).unwrap();
    let (status, said) = refused(&["simulate", "cas-loop", "--machine", &name]);
    assert_eq!(status, 2);
    assert!(said.contains("mine.toml:") && said.contains("hz"), "{said}");
}

#[test]
fn a_printed_machine_predicts_the_same_as_its_name() {
    let folder = Folder::new();
    let name = folder.name("printed.toml");
    let text = printed(&["simulate", "machine", "--print", "graviton2"]);
    assert!(
        text.starts_with("# A machine file") && text.contains("# GHz, 0.1 to 10: core clock"),
        "{text}"
    );
    std::fs::write(&name, text).unwrap();
    let run = |machine: &str| {
        let line = "simulate fetch-add lock-mcs --threads 1,8 --ops 200 --json - --machine";
        printed(&with(line, &[machine]))
    };
    assert_eq!(run(&name), run("graviton2"));
    let (status, said) = refused(&["simulate", "machine", "--print", "gravitom2"]);
    assert!(status == 2 && said.contains("did you mean graviton2"), "{said}");
    assert_eq!(refused(&["simulate", "machine"]).0, 2);
}

#[test]
fn a_preset_without_a_contended_row_tells_ratios_only() {
    let list = printed(&["simulate", "list"]);
    assert!(list.contains("topology only"), "{list}");
    let machine = ["--machine", "xeon-8275cl", "--threads", "2"];
    let table = printed(&[&["recommend"][..], &machine].concat());
    assert!(table.contains("take") && !table.contains("ns/op"), "{table}");
    for command in [&["recommend"][..], &["simulate", "fetch-add"]] {
        let (status, said) = refused(&[command, &machine, &["--json", "-"]].concat());
        assert!(status == 2 && said.contains("is topology only"), "{said}");
    }
}

/// A record as the experiment core-to-core of a machine of four CPUs writes it.
const RECORD: &str = r#"{"schema":"cyclewise.record/1","created":"2026-01-02T03:04:05Z","tool":{"version":"0.1.0","commit":null},
"seed":1,"machine":{"arch":"x86_64","cpu_model":"Example CPU","cpus":4,"cores":[[[1,1],[1,1]]],
"kernel":"6.1","hypervisor":null,"tsc_hz":3e9,"core_cycles_per_tick":null,"clocksource":"tsc","governor":null,"smt":null,
"mitigations":{},"steal_ticks":0,"warnings":[]},"experiments":[{"name":"core-to-core","question":"?","source":"","unit":"ns/op",
"comparisons":[],"notes":[],"variants":[ROWS]}]}"#;

fn record() -> String {
    let rows = [
        ("cluster-0-1", 20.0),
        ("socket-0-2", 40.0),
        ("cycle-t1", 0.3),
        ("cycle-t4", 0.333_333),
        ("pause", 14.0),
        ("fetch-add-t1", 7.0),
        ("cas-loop-t1", 12.0),
        ("fetch-add-t2", 22.0),
        ("cas-loop-t2", 54.0),
        ("fetch-add-t4", 30.0),
        ("cas-loop-t4", 110.0),
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
        table.contains("Example CPU, 4 CPUs") && table.contains("fitted, not measured"),
        "{table}"
    );
    assert!(table.contains("off by"), "{table}");
    let none = folder.name("none.json");
    std::fs::write(&none, record().replace("\"core-to-core\"", "\"popf\"")).unwrap();
    let (status, said) = refused(&["simulate", "fit", "--from", &none]);
    assert!(status == 2 && said.contains("run core-to-core --json"), "{said}");
    // Without the real clock, the counter's rate is not taken for it.
    std::fs::write(&none, record().replace("cycle-t", "circle-t")).unwrap();
    let (status, said) = refused(&["simulate", "fit", "--from", &none]);
    assert!(
        status == 2 && said.contains("another clock") && said.lines().count() == 1,
        "{said}"
    );
}

#[test]
fn a_matrix_is_a_machine_in_one_line() {
    let folder = Folder::new();
    let matrix = folder.name("Intel Example.csv");
    std::fs::write(&matrix, ",,,\n40,,,\n41,40,,\n40,39,41,\n").unwrap();
    fn of<'a>(matrix: &'a str, rest: &'a str) -> Vec<&'a str> {
        let rest: Vec<&str> = rest.split_whitespace().collect();
        [&["--from", matrix, "--clock", "3.0"], &rest[..]].concat()
    }
    fn sweep<'a>(machine: &[&'a str]) -> Vec<&'a str> {
        with("simulate fetch-add cas-loop --threads 2,4 --ops 200", machine)
    }
    // Without a contended row there are ratios, and no document has times.
    let plain = of(&matrix, "");
    let table = printed(&sweep(&plain));
    assert!(table.contains("topology only") && table.contains("ratio"), "{table}");
    assert!(!table.contains("ns/op") && !table.contains("Mop/s"), "{table}");
    for document in ["--json", "--csv", "--html"] {
        let (status, said) = refused(&[&sweep(&plain)[..], &[document, "-"]].concat());
        assert!(
            status == 2 && said.contains("topology only") && said.lines().count() == 1,
            "{said}"
        );
    }
    // With one, its machine file predicts the same.
    let anchored = of(&matrix, "--anchor fetch-add:4=22 --pause 40");
    let csv = printed(&[&sweep(&anchored)[..], &["--csv", "-"]].concat());
    let file = folder.name("m.toml");
    std::fs::write(&file, printed(&with("simulate machine", &anchored))).unwrap();
    let from_file = sweep(&["--machine", &file, "--csv", "-"]);
    assert_eq!(csv, printed(&from_file));
    for (rest, says) in [
        ("--anchor fetch-ad:4=22", "is not a workload"),
        ("--anchor fetch-add:1=22", "is not contended"),
        ("--anchor fetch-add:4=-2", "is not a time"),
        ("--anchor fetch-add", "is not WORKLOAD:THREADS=NS"),
        ("--anchor fetch-add:5=22", "5 threads do not fit on 4 CPUs"),
        ("--smt 3", "not several cores of 3 threads"),
        ("--relax pause", "give --pause CYCLES"),
        ("--family arm-lse", "intel-monolithic"),
    ] {
        let (status, said) = refused(&sweep(&of(&matrix, rest)));
        assert!(status == 2 && said.contains(says), "{said}");
    }
    let (status, said) = refused(&["simulate", "fetch-add", "--from", &matrix, "--clock", "0"]);
    assert!(status == 2 && said.contains("\"0\" is not a clock"), "{said}");
}
