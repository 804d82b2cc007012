//! The command where the machine refuses threads or writes, or closes streams: it prints one line, returns the
//! contract's status, and loses nothing.

#[macro_use]
extern crate cyclewise_bench;

mod common;

use common::{Folder, command, cyclewise, text, with};
use std::process::{Output, Stdio};

/// A stack that no address space has room for, so that no thread of std's can be made.
fn without_threads(args: &[&str]) -> Output {
    command(args)
        .env("RUST_MIN_STACK", "1000000000000000000")
        .output()
        .unwrap()
}

/// Asserts status 2, no output and one line of error; returns that line.
fn refused(args: &[&str]) -> String {
    let (status, said) = common::refused(args);
    assert_eq!(status, 2, "{args:?}: {said}");
    assert_eq!(said.lines().count(), 1, "{args:?}: {said}");
    said
}

fn sweep<'a>(rest: &[&'a str]) -> Vec<&'a str> {
    with("simulate fetch-add --machine i7-6700hq --threads 1,2 --ops 50", rest)
}

const RECORD: &str = include_str!("../../../records/2026-11-21-epyc-genoa-kvm-percpu.json");

#[test]
fn a_thread_that_cannot_be_made_is_one_line() {
    for args in [
        &["verify", "refs", "--seconds", "0.1"][..],
        &["verify", "clock", "--seconds", "0.1"],
        &["verify", "percpu", "--seconds", "0.1"],
        // Refused before where text is not patched.
        &["verify", "patch", "--seconds", "0.1"],
    ] {
        let output = without_threads(args);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{args:?}: {said}");
        assert!(
            output.stdout.is_empty() && !said.contains("panicked"),
            "{args:?}: {said}"
        );
        let why: Vec<&str> = said.lines().filter(|l| l.starts_with("cyclewise:")).collect();
        let patched = args[1] != "patch" || cfg!(target_arch = "x86_64");
        assert_eq!(why.len(), 1, "{args:?}: {said}");
        assert!(!patched || why[0].contains("making a thread"), "{args:?}: {said}");
    }
}

#[test]
fn experiments_that_need_a_thread_say_so() {
    for name in ["percpu-lists", "spinlock", "patch", "clock"] {
        let output = without_threads(&["run", name, "--quick", "--time", "0.1", "--runs", "1", "--json", "-"]);
        let said = text(&output.stderr);
        assert!(!said.contains("panicked"), "{name}: {said}");
        // On one CPU some have no row that needs one, and some machines offer less.
        assert!(matches!(output.status.code(), Some(0 | 3)), "{name}: {said}");
    }
}

#[test]
fn a_sweep_without_threads_is_the_same_on_one_core_and_says_so() {
    let args = sweep(&["--json", "-"]);
    let alone = without_threads(&args);
    let said = text(&alone.stderr);
    assert_eq!(alone.status.code(), Some(0), "{said}");
    assert_says!(said, "only one core is used");
    assert_eq!(alone.stdout, cyclewise(&args).stdout);
}

#[test]
fn a_full_disk_under_stderr_loses_no_result() {
    let Ok(full) = std::fs::OpenOptions::new().write(true).open("/dev/full") else {
        return println!("skipped: there is no /dev/full");
    };
    let folder = Folder::new();
    let json = folder.name("s.json");
    let status = command(&sweep(&["--json", &json]))
        .stdout(Stdio::null())
        .stderr(full)
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(0));
    assert!(folder.path("s.json").is_file());
}

#[test]
fn two_documents_do_not_go_to_one_place() {
    let folder = Folder::new();
    let record = folder.name("r.json");
    std::fs::write(&record, RECORD).unwrap();
    let (same, odd) = (folder.name("same"), format!("{}./same", folder.path("").display()));
    let compare = ["compare", &record, &record];
    assert_says!(
        refused(&[&compare[..], &["--json", "-", "--html", "-"]].concat()),
        "cannot all write to stdout"
    );
    assert_says!(
        refused(&[&compare[..], &["--json", &same, "--html", &odd]].concat()),
        "both name"
    );
    assert_says!(refused(&sweep(&["--json", &same, "--csv", &same])), "both name");
    assert!(!folder.path("same").exists());
    // Several documents may go to /dev/null.
    let output = cyclewise(&sweep(&["--json", "/dev/null", "--csv", "/dev/null"]));
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

#[test]
fn what_is_read_is_not_written_over() {
    let folder = Folder::new();
    let record = folder.name("r.json");
    std::fs::write(&record, RECORD).unwrap();
    std::os::unix::fs::symlink("r.json", folder.path("link.json")).unwrap();
    let link = folder.name("link.json");
    for args in [
        &["report", &record, "--html", &record][..],
        &["report", &record, "--html", &link],
        &["compare", &link, &record, "--json", &record],
        &["simulate", "fit", "--from", &record, "--out", &record],
        &["recommend", "--machine", &record, "--json", &record],
        &["simulate", "fetch-add", "--machine", &record, "--json", &record],
    ] {
        assert!(refused(args).contains("would be overwritten"), "{args:?}");
    }
    assert_eq!(std::fs::read_to_string(&record).unwrap(), RECORD);
}

#[test]
fn a_document_may_come_from_a_pipe() {
    let folder = Folder::new();
    let page = folder.name("p.html");
    let sweep = cyclewise(&sweep(&["--json", "-"])).stdout;
    for document in [RECORD.as_bytes(), &sweep] {
        let mut report = command(&["report", "/dev/stdin", "--html", &page])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        std::io::Write::write_all(&mut report.stdin.take().unwrap(), document).unwrap();
        assert_eq!(report.wait().unwrap().code(), Some(0));
    }
}

/// Root writes everywhere, but to no file below a file, and no file in /proc.
#[test]
fn a_place_that_cannot_be_written_is_told_before_the_work() {
    let folder = Folder::new();
    std::fs::write(folder.path("file"), "").unwrap();
    let below = folder.name("file/x.json");
    assert_says!(refused(&sweep(&["--json", &below])), "--json");
    assert_says!(
        refused(&sweep(&["--json", "/proc/cyclewise.json"])),
        "name a file that can be written"
    );
    assert_says!(
        refused(&["verify", "refs", "--json", "/proc/cyclewise.json"]),
        "can be written"
    );
    // An existing file keeps its text until there is something to write.
    let kept = folder.name("kept.json");
    std::fs::write(&kept, "kept").unwrap();
    refused(&["simulate", "fetch-add", "--machine", "nowhere", "--json", &kept]);
    assert_eq!(std::fs::read_to_string(&kept).unwrap(), "kept");
}

#[test]
fn what_can_be_written_is_written_where_another_place_fails() {
    let folder = Folder::new();
    let csv = folder.name("s.csv");
    let output = cyclewise(&sweep(&["--json", "/dev/full", "--csv", &csv]));
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert_says!(said, "writing /dev/full");
    assert_lacks!(said, "panicked");
    assert_eq!(std::fs::read_to_string(&csv).unwrap().lines().count(), 3);
}

#[test]
fn an_option_of_an_experiment_that_is_not_run_is_refused() {
    assert_says!(
        refused(&["run", "popf", "--threads", "2"]),
        "open-read-close, which would not run"
    );
    for args in [
        &["run", "open-read-close", "--groups", "2"][..],
        &["run", "popf", "--pipe"],
        &["run", "popf", "--loops", "2"],
    ] {
        assert!(refused(args).contains("hackbench, which would not run"), "{args:?}");
    }
}

#[test]
fn a_failure_is_told_once() {
    let folder = Folder::new();
    let nowhere = folder.name("nowhere");
    let output = command(&["run", "open-read-close", "--quick", "--json", "-"])
        .env("TMPDIR", nowhere)
        .output()
        .unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert_eq!(said.matches("cannot make its file").count(), 1, "{said}");
}

/// Only the CPUs that `taskset` allows are used.
#[test]
fn a_process_that_may_use_one_cpu_uses_no_other() {
    let first = cyclewise_lab::sys::affinity::allowed().unwrap()[0];
    // A thread of its own: the other tests keep their CPUs. What it starts inherits its mask.
    let run = move || {
        cyclewise_lab::sys::affinity::confine(&[first]).unwrap();
        cyclewise(&["run", "clock", "--quick", "--time", "0.5", "--runs", "1", "--json", "-"])
    };
    let output = std::thread::spawn(run).join().unwrap();
    let said = text(&output.stderr);
    if output.status.code() == Some(3) && said.contains("samples were usable") {
        return println!("skipped: {said}");
    }
    assert_eq!(output.status.code(), Some(0), "{said}");
    let record = cyclewise_lab::record::from_str("stdout", &text(&output.stdout)).unwrap();
    let e = &record.experiments[0];
    assert!(e.variants.iter().all(|v| v.name != "recent"), "{e:?}");
    assert!(e.notes.iter().any(|n| n.contains("one CPU only")), "{:?}", e.notes);
}
