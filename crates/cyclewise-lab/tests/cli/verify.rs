//! The report of `verify` on each subject, and its matching exit status.

use super::run::too_busy;
use super::*;
use serde_json::Value;

#[test]
fn verify_lab_reports_each_promise() {
    let folder = Folder::new();
    let path = folder.name("v.json");
    let output = cyclewise(&["verify", "lab", "--seconds", "1", "--json", &path]);
    if output.status.code() == Some(3) && !folder.path("v.json").exists() && too_busy(&output) {
        return println!("skipped: {}", stderr(&output));
    }
    let json: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let checks = json["checks"].as_array().unwrap();
    let names: Vec<&str> = checks.iter().map(|c| c["name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "one-percent-of-a-chain-is-found",
            "one-percent-of-throughput-is-found",
            "one-percent-of-rmw-calls-is-found",
            "a-a-p-is-honest",
            "a-a-gets-no-verdict"
        ]
    );
    // Whether they hold depends on the machine; the status must agree.
    let any = |holds: Option<bool>| checks.iter().any(|c| c["holds"].as_bool() == holds);
    let status = [(any(Some(false)), 1), (any(None), 3), (true, 0)];
    let status = status.into_iter().find(|(is, _)| *is).map(|(_, status)| status);
    assert_eq!(output.status.code(), status, "{}", stderr(&output));
    // A second is too short for eight hunts.
    assert!(any(None) || any(Some(false)), "{checks:#?}");
    assert!(
        !any(None) || stdout(&output).contains("not shown: "),
        "{}",
        stdout(&output)
    );
}

/// Seconds of one verification: more with CYCLEWISE_LONG.
fn seconds() -> &'static str {
    match std::env::var_os("CYCLEWISE_LONG") {
        Some(_) => "2",
        None => "0.3",
    }
}

fn verified(what: &str, promises: usize) -> (Vec<Value>, Output) {
    let output = cyclewise(&["verify", what, "--seconds", seconds(), "--json", "-"]);
    let mut json: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let Value::Array(checks) = json["checks"].take() else {
        panic!("{json}")
    };
    assert_eq!((json["what"].as_str(), checks.len()), (Some(what), promises));
    let (status, line) = refused(&["verify", what, "--cpu", "0"]);
    assert!(status == 2 && line.contains("leave it out"), "{line}");
    (checks, output)
}

/// Whether it was tried, and holds.
fn kept(check: &Value) -> bool {
    check["holds"] == true && check["tries"].as_u64() > Some(0)
}

#[test]
fn verify_refs_keeps_its_promises_everywhere() {
    let (checks, output) = verified("refs", 6);
    assert!(checks.iter().all(kept), "{checks:#?}");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

/// On x86-64, whose text is patched; elsewhere it is refused.
#[test]
#[cfg(target_arch = "x86_64")]
fn verify_patch_keeps_its_promises() {
    let (checks, output) = verified("patch", 5);
    let (twins, promises): (Vec<_>, Vec<_>) = checks.iter().partition(|c| c["name"] == "the-race-bites");
    assert_eq!(twins.len(), 1);
    assert!(promises.iter().all(|c| c["holds"] == true), "{checks:#?}");
    // Whether the twin loses an addition in time is chance; the status must agree.
    let bites = twins[0]["holds"] == true;
    assert_eq!(output.status.code(), Some(i32::from(!bites)), "{}", stderr(&output));
}

/// By `taskset -ap`, repeatedly while it runs.
#[test]
#[cfg(target_arch = "x86_64")]
fn verify_patch_says_that_its_threads_were_let_out() {
    const TRIES: usize = 200;
    let cpus = std::thread::available_parallelism().map_or(1, |n| n.get());
    if cpus < 2 || std::process::Command::new("taskset").arg("--version").output().is_err() {
        return println!("skipped: {cpus} CPUs, or no taskset");
    }
    for _ in 0..TRIES {
        let mut running = std::process::Command::new(env!("CARGO_BIN_EXE_cyclewise"))
            .args(["verify", "patch", "--seconds", "0.5", "--json", "-"])
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let id = running.id().to_string();
        while running.try_wait().unwrap().is_none() {
            let let_out = std::process::Command::new("taskset")
                .args(["-acp", "0-1023", &id])
                .output();
            let_out.unwrap();
        }
        let output = running.wait_with_output().unwrap();
        let json: Value = serde_json::from_str(&stdout(&output)).unwrap();
        let checks = json["checks"].as_array().unwrap();
        let kept = checks.iter().find(|c| c["name"] == "threads-stay-confined").unwrap();
        if kept["holds"] == false {
            assert_eq!(output.status.code(), Some(1));
            return;
        }
    }
    panic!("it was let out {TRIES} times, and has never seen it");
}

#[test]
fn verify_percpu_keeps_its_promises_everywhere() {
    let (checks, output) = verified("percpu", 11);
    let (twins, promises): (Vec<_>, Vec<_>) = checks
        .iter()
        .partition(|c| c["name"].as_str().unwrap().starts_with("the-storm-bites"));
    assert_eq!((twins.len(), promises.len()), (5, 6));
    assert!(promises.into_iter().all(kept), "{checks:#?}");
    // Whether a twin fails in time is chance; the status must agree.
    let all = twins.iter().all(|c| c["holds"] == true);
    assert_eq!(output.status.code(), Some(i32::from(!all)), "{}", stderr(&output));
}

#[test]
fn verify_clock_reports_each_promise() {
    let folder = Folder::new();
    let path = folder.name("v.json");
    let output = cyclewise(&["verify", "clock", "--seconds", seconds(), "--json", &path]);
    let json: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let checks = json["checks"].as_array().unwrap();
    let check = |name: &str| checks.iter().find(|c| c["name"] == name);
    for name in ["starts-at-once", "task-never-back", "steady-back", "skewed-bound"] {
        assert!(check(name).is_some(), "{name}");
    }
    // The library promises this on any machine, even a loaded one.
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
