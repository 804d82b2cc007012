//! Two programs that take turns.

use super::executable::{copy_executable, write_executable};
use super::{BASE, Ran, command};
use cyclewise_bench::record::{self, Record, Verdict};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A copy of this program, which is the benchmark program that [`BASE`] names.
fn base(folder: &TempDir) -> PathBuf {
    let path = folder.path().join("base");
    copy_executable(&std::env::current_exe().unwrap(), &path);
    path
}

/// Compares the program with the base of this name. `None`, with the reason printed, where this machine leaves too few samples.
fn compared(program: &str, base_program: &str, arguments: &[&str]) -> Option<(Ran, Option<Record>)> {
    let folder = tempfile::tempdir().unwrap();
    let base = base(&folder).display().to_string();
    let file = folder.path().join("record.json");
    let json = file.display().to_string();
    let line = [
        "--bench",
        "--time",
        "0.3",
        "--runs",
        "3",
        "--against",
        &base,
        "--json",
        &json,
    ];
    let mut command = command(program, &[&line, arguments].concat());
    let ran = Ran::of_output(command.env(BASE, base_program).output().unwrap());
    if ran.stderr.contains("samples were usable") {
        println!("skipped: this machine is too busy to measure");
        return None;
    }
    Some((ran, record::load(&file).ok()))
}

#[test]
fn each_row_is_compared_with_that_of_the_other_program() {
    let Some((ran, record)) = compared("work", "half-the-work", &[]) else {
        return;
    };
    let record = record.unwrap_or_else(|| panic!("{}", ran.stderr));
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    assert_eq!(record.runs.len(), 3);
    let e = &record.experiments[0];
    let names: Vec<(&str, &str)> = e.comparisons.iter().map(|c| (&*c.a, &*c.b)).collect();
    assert_eq!(names, [("same", "same@base"), ("changed", "changed@base")]);
    let [same, changed] = &e.comparisons[..] else { panic!() };
    assert!(changed.between.is_some(), "of three pairs of processes");
    // Twice the work, and the twin that has as much as before: however noisy the machine is, the first is not the faster one.
    assert_ne!(changed.verdict, Verdict::Faster);
    let ratios = [same, changed].map(|c| c.ratio_of().0);
    assert!(ratios[0] < ratios[1], "{ratios:?}");
    let line = ran.line("not compared");
    assert_says!(line, "1 variants here, 1 of ");
    assert_says!(ran.stdout, "changed@base");
}

#[test]
fn a_row_that_is_slower_by_more_fails_and_one_that_cannot_be_told_has_another_status() {
    let Some((ran, _)) = compared("work", "half-the-work", &["--fail-on", "slower:20%"]) else {
        return;
    };
    match ran.status {
        Some(1) => assert!(
            ran.line("slower by more than 20 %: ").contains("work/changed"),
            "{}",
            ran.stderr
        ),
        Some(3) => assert!(ran.line("may be slower").contains("of 2 variants"), "{}", ran.stderr),
        other => panic!("{other:?}: {}", ran.stderr),
    }
    // The twin: slower by less than is allowed. Where rounds were too few, that cannot be told.
    let Some((ran, _)) = compared("work", "half-the-work", &["--fail-on", "slower:900%"]) else {
        return;
    };
    match ran.status {
        Some(0) => assert!(!ran.stderr.contains("may be slower"), "{}", ran.stderr),
        Some(3) => assert!(ran.line("may be slower").contains("of 2 variants"), "{}", ran.stderr),
        other => panic!("{other:?}: {}", ran.stderr),
    }
}

#[test]
fn a_program_that_dies_is_told_and_nobody_waits_for_it() {
    let Some((ran, record)) = compared("work", "dies", &[]) else {
        return;
    };
    assert_eq!(ran.status, Some(1), "{}", ran.stderr);
    ran.line("the program that it takes turns with ended");
    // The pair of processes before it is kept.
    let record = record.unwrap_or_else(|| panic!("{}", ran.stderr));
    assert_eq!((record.runs.len(), record.experiments.len()), (1, 1));
    let missing = record.missing.last().unwrap();
    assert!(missing.experiment == "pair 2 of 3 of processes", "{missing:?}");
    assert_says!(missing.why, "SIGABRT");
}

#[test]
fn groups_in_another_order_are_no_pairs() {
    let Some((ran, _)) = compared("two-groups", "other-order", &[]) else {
        return;
    };
    assert_eq!(ran.status, Some(1), "{}", ran.stderr);
    assert_says!(ran.stderr, "has the group");
}

fn git(folder: &std::path::Path, arguments: &[&str]) {
    let identity = [
        "-c",
        "user.name=x",
        "-c",
        "user.email=x@x",
        "-c",
        "commit.gpgsign=false",
    ];
    let mut git = std::process::Command::new("git");
    let output = git
        .arg("-C")
        .arg(folder)
        .args(identity)
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
}

/// How a revision is built by a program that `cargo bench --features fast --profile thin` has started, with these arguments of its own. The
/// cargo that starts it is a shell of this name, and the one that builds a script, which tells its arguments and fails.
fn built(arguments: &[&str]) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let script = |name: &str, text: &str| {
        write_executable(&path(name), format!("#!/bin/sh\n{text}"));
    };
    std::fs::create_dir_all(path("target/release/deps")).unwrap();
    let mine = path("target/release/deps/mine-0123456789abcdef");
    copy_executable(&std::env::current_exe().unwrap(), &mine);
    copy_executable(Path::new("/bin/sh"), &path("cargo"));
    script("build", "echo \"asked in $PWD: $*\" >&2; exit 1\n");
    // Another command follows, so that the shell stays the parent.
    script(
        "bench",
        "target/release/deps/mine-0123456789abcdef --exact program --nocapture --test-threads 1\nexit $?\n",
    );
    std::fs::create_dir(path("package")).unwrap();
    std::fs::write(path("package/Cargo.toml"), "").unwrap();
    git(folder.path(), &["init", "-q"]);
    git(folder.path(), &["add", "package"]);
    git(folder.path(), &["commit", "-qm", "x"]);
    let program = command("work", &[&["--bench", "--against", "HEAD"], arguments].concat());
    let output = std::process::Command::new(path("cargo"))
        .args(["bench", "--features", "fast", "-j2", "--profile", "thin", "--", "x"])
        .envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .env("CARGO", path("build"))
        .env("CARGO_MANIFEST_DIR", path("package"))
        .current_dir(folder.path())
        .output()
        .unwrap();
    Ran::of_output(output)
}

#[test]
fn a_revision_is_built_as_this_program_was() {
    let ran = built(&[]);
    assert_eq!(ran.status, Some(1), "{}", ran.stderr);
    let asked = ran.line("asked in");
    assert!(asked.ends_with("Cargo.toml --features fast --profile thin"), "{asked}");
    assert_says!(asked, "bench --no-run");
    // The twin: as an option says instead.
    let ran = built(&["--against-cargo-args", "--features slow"]);
    assert!(
        ran.line("asked in").ends_with("Cargo.toml --features slow"),
        "{}",
        ran.stderr
    );
    assert_says!(ran.line("does not build"), "--against HEAD");
}

#[test]
fn what_is_no_program_of_this_harness_is_refused() {
    let refused = |arguments: &[&str], part: &str| {
        let ran = Ran::of_output(command("work", arguments).output().unwrap());
        assert_eq!(ran.status, Some(2), "{}", ran.stderr);
        ran.line(part);
    };
    refused(&["--bench", "--against", "/bin/sh"], "no benchmark of this version");
    refused(&["--bench", "--fail-on", "slower:2%"], "--fail-on needs --against");
    refused(&["--bench", "--against-cargo-args", "-F x"], "args needs --against");
    refused(&["--bench", "--against", "/bin/sh", "--fail-on", "2%"], "is not a rule");
    let folder = tempfile::tempdir().unwrap();
    let base = base(&folder).display().to_string();
    let mut nothing = command("work", &["--bench", "--against", &base, "nothing-like-it"]);
    let ran = Ran::of_output(nothing.env(BASE, "work").output().unwrap());
    assert_eq!(ran.status, Some(2));
    ran.line("no variant that was asked for is in both");
}
