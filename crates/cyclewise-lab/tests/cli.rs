//! The command's contract with scripts: exit status, what goes to which stream, what each document holds.

use cyclewise_lab::record::{self, Record, Verdict};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn cyclewise(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cyclewise"))
        .args(args)
        .output()
        .unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The status and the one line that says why.
fn refused(args: &[&str]) -> (i32, String) {
    let output = cyclewise(args);
    assert!(
        output.stdout.is_empty(),
        "{args:?} printed results: {}",
        stdout(&output)
    );
    let text = stderr(&output);
    let line = text
        .lines()
        .find(|l| l.starts_with("cyclewise:") || l.starts_with("error:"));
    (
        output.status.code().unwrap(),
        line.unwrap_or_else(|| panic!("{args:?}: {text}")).to_string(),
    )
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn with(&self, name: &str, text: &str) -> String {
        std::fs::write(self.path(name), text).unwrap();
        text_of(&self.path(name))
    }
}

fn text_of(path: &Path) -> String {
    path.display().to_string()
}

/// A record as `run` has written it, for the tests that need one and not a measurement.
const RECORD: &str = include_str!("../../../records/2026-11-21-epyc-genoa-kvm-percpu.json");

/// Whether the machine was too busy to keep two samples of a variant, as it was told; any other refusal is a failure.
fn too_busy(output: &Output) -> bool {
    if output.status.code() == Some(0) {
        return false;
    }
    let said = stderr(output);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("samples were usable"), "{said}");
    assert!(output.stdout.is_empty(), "{said}");
    true
}

/// What a measurement printed; `None`, with the reason, where this machine is too busy for one.
fn measurement(command: &mut Command) -> Option<Output> {
    for _ in 0..5 {
        let output = command.output().unwrap();
        if !too_busy(&output) {
            return Some(output);
        }
    }
    println!("skipped: other work leaves this machine no sample undisturbed");
    None
}

fn run_null_syscall() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cyclewise"));
    command.args(["run", "null-syscall", "--quick"]);
    command
}

#[test]
fn with_json_on_stdout_the_record_is_alone_there_and_whole() {
    let Some(output) = measurement(run_null_syscall().args(["--json", "-"])) else {
        return;
    };
    let record: Record = record::from_str("stdout", &stdout(&output)).unwrap();
    assert_eq!(record.experiments.len(), 1);
    let e = &record.experiments[0];
    assert_eq!(e.name, "null-syscall");
    let getppid = e.variants.iter().find(|v| v.name == "getppid").unwrap();
    let call = e.variants.iter().find(|v| v.name == "function-call").unwrap();
    for v in [getppid, call] {
        assert!(v.n >= 2 && v.samples.len() == v.n && v.n + v.rejected == e.rounds);
        assert!(v.min <= v.median && v.ci95[0] <= v.mean && v.mean <= v.ci95[1], "{v:?}");
        assert!(v.code_bytes.is_some_and(|b| b > 0));
    }
    // A control that lost its samples to other work is none, and then there is no verdict.
    let control = e.control.as_ref();
    assert!(control.is_none_or(|c| c.of == "getppid" && c.floor >= 0.0 && c.n == c.samples.len()));
    let entry = e
        .comparisons
        .iter()
        .find(|c| c.a == "getppid" && c.b == "function-call")
        .unwrap();
    // What the figures are is this machine's affair; that they belong together is ours.
    assert!((entry.ratio * call.mean / getppid.mean - 1.0).abs() < 1e-9, "{entry:?}");
    assert!((entry.difference + call.mean - getppid.mean).abs() < 1e-6 * getppid.mean.abs());
    assert!(record.machine.tsc_hz > 1e6 && record.machine.cpus > 0 && record.machine.pinned_cpu.is_some());
    let rate = record.machine.core_cycles_per_tick;
    assert!(rate.is_none_or(|r| r.value > 0.0 && r.ci95[0] <= r.value && r.value <= r.ci95[1] && !r.why.is_empty()));
}

#[test]
fn the_documents_go_where_they_are_told() {
    let folder = Folder::new();
    let names = ["r.json", "r.csv", "b.json", "r.html"].map(|n| text_of(&folder.path(n)));
    let mut command = run_null_syscall();
    command.args(["--seed", "7", "--json", &names[0], "--csv", &names[1]]);
    command.args(["--bmf", &names[2], "--html", &names[3]]);
    let Some(output) = measurement(&mut command) else {
        return;
    };
    let table = stdout(&output);
    assert!(
        table.contains("getppid") && table.contains("noise floor") && !table.contains('\x1b'),
        "{table}"
    );

    let record = record::load(&folder.path("r.json")).unwrap();
    assert_eq!(record.seed, 7);
    let csv = std::fs::read_to_string(&names[1]).unwrap();
    let header = "experiment,variant,unit,n,rejected,mean,sd,median,min,ci95_low,ci95_high,code_bytes,core_cycles,instructions,cycles_source";
    assert_eq!(csv.lines().next(), Some(header));
    assert!(csv.lines().any(|l| l.starts_with("null-syscall,getppid,tick/op,")));
    let bmf: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&names[2]).unwrap()).unwrap();
    let latency = &bmf["null-syscall/getppid"]["latency"];
    let nanos = record.experiments[0].variants[0].mean * 1e9 / record.machine.tsc_hz;
    assert!((latency["value"].as_f64().unwrap() / nanos - 1.0).abs() < 1e-9);
    assert!(latency["lower_value"].as_f64() <= latency["value"].as_f64());
    let html = std::fs::read_to_string(&names[3]).unwrap();
    assert!(html.contains("<svg") && html.contains("getppid"));
}

#[test]
fn without_named_outputs_run_writes_its_report_and_record_here() {
    let folder = Folder::new();
    let Some(output) = measurement(run_null_syscall().current_dir(folder.0.path())) else {
        return;
    };
    record::load(&folder.path("cyclewise-record.json")).unwrap();
    assert!(folder.path("cyclewise-report.html").is_file());
    assert!(stderr(&output).contains("wrote cyclewise-report.html"));
}

#[test]
fn wrong_use_is_two_and_says_what_to_do() {
    for (args, says) in [
        (&["run", "lock-prefx"][..], "lock-prefix"),
        (&["run", "--quick", "--full"], "cannot be used with"),
        (&["run", "null-syscall", "--cpu", "4095"], "affinity mask allows"),
        (&["run", "null-syscall", "--json", "-", "--csv", "-"], "all want stdout"),
        (
            &["run", "null-syscall", "--html", "no/such/folder/x.html"],
            "does not exist",
        ),
        (&["run", "null-syscall", "--json", "/"], "is a folder"),
        (&["run", "hackbench", "--groups", "0"], "0 is not in"),
        (&["time"], "required"),
        (&["time", "-n", "1", "true"], "1 is not in"),
        (&["time", "-n", "2", ""], "empty"),
        (&["compare", "one.json"], "2 values"),
        (&["verify", "gravity"], "gravity"),
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
fn an_open_read_close_count_of_zero_is_refused() {
    let (status, line) = refused(&["run", "open-read-close", "--quick", "--threads", "0", "--json", "-"]);
    assert_eq!(status, 2, "{line}");
}

#[test]
fn a_record_that_is_not_one_is_wrong_use() {
    let folder = Folder::new();
    let good = folder.with("good.json", RECORD);
    for (name, text, says) in [
        ("truncated.json", &RECORD[..RECORD.len() / 2], "truncated"),
        ("foreign.json", r#"{"hello": 1}"#, "not a cyclewise record"),
        ("newer.json", r#"{"schema": "cyclewise.record/9"}"#, "newer cyclewise"),
        ("text.json", "hello", "not a JSON object"),
    ] {
        let bad = folder.with(name, text);
        let page = text_of(&folder.path("x.html"));
        for args in [&["compare", &good, &bad][..], &["report", &bad, "--html", &page]] {
            let (status, line) = refused(args);
            assert_eq!(status, 2, "{line}");
            assert!(line.contains(name) && line.contains(says), "{line}");
        }
    }
    let (status, line) = refused(&["compare", &good, &text_of(&folder.path("absent.json"))]);
    assert!(status == 2 && line.contains("absent.json"), "{line}");
}

#[test]
fn a_record_compared_with_itself_is_indistinguishable() {
    let folder = Folder::new();
    let record = folder.with("r.json", RECORD);
    let page = text_of(&folder.path("c.html"));
    let output = cyclewise(&["compare", &record, &record, "--json", "-", "--html", &page]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let report: record::compare::CompareReport = serde_json::from_str(&stdout(&output)).unwrap();
    assert!(
        report.experiments[0]
            .rows
            .iter()
            .all(|r| r.verdict == Verdict::Indistinguishable)
    );
    assert!(std::fs::read_to_string(page).unwrap().contains("<svg"));
    let table = stdout(&cyclewise(&["compare", &record, &record]));
    assert!(
        table.contains("indistinguishable") && !table.contains("slower"),
        "{table}"
    );
}

#[test]
fn report_makes_one_page_of_many_records() {
    let folder = Folder::new();
    let record = folder.with("r.json", RECORD);
    let page = text_of(&folder.path("p.html"));
    assert_eq!(
        cyclewise(&["report", &record, &record, "--html", &page]).status.code(),
        Some(0)
    );
    assert!(std::fs::read_to_string(page).unwrap().matches("<svg").count() >= 2);
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
fn doctor_gives_evidence_for_every_line() {
    let json: serde_json::Value = serde_json::from_str(&stdout(&cyclewise(&["doctor", "--json"]))).unwrap();
    let lines = json["lines"].as_array().unwrap();
    assert!(lines.len() > 20);
    assert!(lines.iter().all(|l| !l["evidence"].as_str().unwrap().is_empty()));
    assert!(stdout(&cyclewise(&["doctor"])).contains("tsc-invariant"));
}

#[test]
fn verify_lab_reports_each_promise() {
    let folder = Folder::new();
    let path = text_of(&folder.path("v.json"));
    let output = cyclewise(&["verify", "lab", "--seconds", "1", "--json", &path]);
    if output.status.code() == Some(3) && too_busy(&output) {
        return println!("skipped: {}", stderr(&output));
    }
    let json: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let checks = json["checks"].as_array().unwrap();
    let names: Vec<&str> = checks.iter().map(|c| c["name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        ["one-percent-is-found", "a-a-p-is-honest", "a-a-is-indistinguishable"]
    );
    // Whether they hold is this machine's affair; that the status says the same is ours.
    let holds = checks.iter().all(|c| c["holds"].as_bool().unwrap());
    assert_eq!(output.status.code(), Some(i32::from(!holds)), "{}", stderr(&output));
}

#[test]
fn verify_refs_keeps_its_promises_everywhere() {
    let output = cyclewise(&["verify", "refs", "--seconds", "1", "--json", "-"]);
    let json: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    let checks = json["checks"].as_array().unwrap();
    assert_eq!((json["what"].as_str(), checks.len()), (Some("refs"), 6));
    assert!(checks.iter().all(|c| c["holds"] == true), "{checks:#?}");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let (status, line) = refused(&["verify", "refs", "--cpu", "0"]);
    assert_eq!(status, 2);
    assert!(line.contains("leave it out"), "{line}");
}

/// On x86-64, whose text is patched; elsewhere it is refused.
#[test]
#[cfg(target_arch = "x86_64")]
fn verify_patch_keeps_its_promises() {
    let output = cyclewise(&["verify", "patch", "--seconds", "2", "--json", "-"]);
    let json: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    let checks = json["checks"].as_array().unwrap();
    assert_eq!((json["what"].as_str(), checks.len()), (Some("patch"), 4));
    let (twins, promises): (Vec<_>, Vec<_>) = checks.iter().partition(|c| c["name"] == "the-race-bites");
    assert_eq!(twins.len(), 1);
    assert!(promises.iter().all(|c| c["holds"] == true), "{checks:#?}");
    // Whether the twin loses an addition in time is chance; that the status says so is not.
    let bites = twins[0]["holds"] == true;
    assert_eq!(output.status.code(), Some(i32::from(!bites)), "{}", stderr(&output));
    let (status, line) = refused(&["verify", "patch", "--cpu", "0"]);
    assert_eq!(status, 2);
    assert!(line.contains("leave it out"), "{line}");
}

#[test]
fn verify_percpu_keeps_its_promises_everywhere() {
    let output = cyclewise(&["verify", "percpu", "--seconds", "4", "--json", "-"]);
    let json: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    let checks = json["checks"].as_array().unwrap();
    assert_eq!((json["what"].as_str(), checks.len()), (Some("percpu"), 11));
    let (twins, promises): (Vec<_>, Vec<_>) = checks
        .iter()
        .partition(|c| c["name"].as_str().unwrap().starts_with("the-storm-bites"));
    assert_eq!((twins.len(), promises.len()), (5, 6));
    assert!(promises.iter().all(|c| c["holds"] == true), "{checks:#?}");
    // Whether a twin goes wrong in time is chance; that the status says so is not.
    let all = twins.iter().all(|c| c["holds"] == true);
    assert_eq!(output.status.code(), Some(i32::from(!all)), "{}", stderr(&output));
    let threads = json["notes"][0].as_str().unwrap();
    assert!(threads.contains(" threads; "), "{threads}");
    let (status, line) = refused(&["verify", "percpu", "--cpu", "0"]);
    assert_eq!(status, 2);
    assert!(line.contains("leave it out"), "{line}");
}

#[test]
fn verify_clock_reports_each_promise() {
    let folder = Folder::new();
    let path = text_of(&folder.path("v.json"));
    let output = cyclewise(&["verify", "clock", "--seconds", "1", "--json", &path]);
    let json: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let checks = json["checks"].as_array().unwrap();
    let check = |name: &str| checks.iter().find(|c| c["name"] == name);
    for name in ["starts-at-once", "task-never-back", "steady-back", "skewed-bound"] {
        assert!(check(name).is_some(), "{name}");
    }
    // A promise of the library's, on any machine however loaded.
    for name in [
        "no-warp",
        "now-after-load",
        "task-never-back",
        "steady-back",
        "skewed-back",
    ] {
        assert!(check(name).is_none_or(|c| c["holds"] == true), "{name}");
    }
    let holds = checks.iter().all(|c| c["holds"].as_bool().unwrap());
    assert_eq!(output.status.code(), Some(i32::from(!holds)), "{}", stderr(&output));
    assert!(stdout(&output).contains("quanta"), "the notes are printed");
}

#[test]
fn a_reader_that_goes_away_is_no_panic() {
    let program = env!("CARGO_BIN_EXE_cyclewise");
    let output = Command::new("sh")
        .args(["-c", &format!("'{program}' doctor | head -n 1")])
        .output()
        .unwrap();
    assert!(!stderr(&output).contains("panic"), "{}", stderr(&output));
}
