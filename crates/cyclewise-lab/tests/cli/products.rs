//! Subcommands that are programs of other packages: the arguments, the exit status and the end are the program's.

use super::common::executable::write_executable;
use super::common::{Folder, command, cyclewise, refused, simulator, text};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, Output};

/// The command alone in a folder, so that nothing that cargo built stands beside it.
fn alone() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let program = folder.path().join("cyclewise");
    std::fs::hard_link(env!("CARGO_BIN_EXE_cyclewise"), &program).unwrap();
    (folder, program)
}

fn run(program: &PathBuf, args: &[&str]) -> Output {
    // No folder of PATH has a product, but for what a shell needs.
    Command::new(program)
        .args(args)
        .env("PATH", "/usr/bin:/bin")
        .output()
        .unwrap()
}

#[test]
fn a_product_gets_the_arguments_and_gives_its_end() {
    let (folder, program) = alone();
    let product = folder.path().join("cyclewise-locks");
    write_executable(
        &product,
        "#!/bin/sh\nprintf '%s\\n' \"$@\"\n[ \"$1\" != die ] || kill -TERM $$\nexit 42\n",
    );
    let output = run(&program, &["locks", "--wide", "--", "sh", "-c", "a  b", "--help"]);
    assert_eq!(output.status.code(), Some(42), "{output:?}");
    assert_eq!(output.stdout, b"--wide\n--\nsh\n-c\na  b\n--help\n");
    assert_eq!(run(&program, &["locks", "die"]).status.signal(), Some(15));
    // A document of its own is shown by it.
    let documents = Folder::new();
    let locks = documents.with("l.json", "{\"schema\":\"cyclewise.locks/1\"}");
    let output = run(
        &program,
        &["report", &locks, "--wide", "--lines", "3", "--html", "p.html"],
    );
    let expected = format!("report\n--lines\n3\n--wide\n--html\np.html\n--\n{locks}\n");
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
}

#[test]
fn a_product_that_is_not_there_is_told_in_a_line() {
    let (_folder, program) = alone();
    let documents = Folder::new();
    let locks = documents.with("l.json", "{\"schema\":\"cyclewise.locks/1\"}");
    for args in [&["locks", "--", "true"][..], &["report", &locks]] {
        let output = run(&program, args);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(3), 0), "{said}");
        assert_says!(said, "cargo build --release -p cyclewise-locks");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}

#[test]
fn a_report_of_a_simulation_is_the_simulators() {
    let folder = Folder::new();
    let sweep = folder.name("sweep.json");
    let line = format!("simulate fetch-add --machine i7-6700hq --threads 1,2 --ops 50 --json {sweep}");
    let words: Vec<&str> = line.split(' ').collect();
    assert_eq!(cyclewise(&words).status.code(), Some(0));
    simulator();
    let table = cyclewise(&["report", &sweep]);
    assert_eq!(table.status.code(), Some(0), "{}", text(&table.stderr));
    assert_says!(text(&table.stdout), "fetch-add");
    let joined = command(&["report", &sweep, "--json", "-"]).output().unwrap();
    assert_eq!(text(&joined.stdout), folder.read("sweep.json"));
    let record = folder.with("record.json", r#"{"schema":"cyclewise.record/1"}"#);
    let (status, said) = refused(&["report", &sweep, &record]);
    assert!(status == 2 && said.contains("separately for simulations"), "{said}");
}
