//! Where the output of commands goes, and what of it is in an error.

use super::*;

#[test]
fn output_takes_no_memory_and_no_time_beside_that_of_the_command() {
    let commands = ["head -c 300000000 /dev/zero", "head -c 1000 /dev/zero"];
    let Some(r) = record(&with("-r 2 --json -", &commands)) else {
        return;
    };
    let v = &r.experiments[0].variants;
    let peak = |i: usize| v[i].metrics["max-rss"].samples.iter().copied().fold(0.0, f64::max);
    // Both are below this program's own peak, which 300 MB of output would have raised.
    assert!(peak(0) < peak(1) + 20_000.0, "{} KiB and {} KiB", peak(0), peak(1));
}

#[test]
fn output_goes_where_it_is_sent() {
    let folder = Folder::new();
    let log = folder.name("log");
    let Some(shown) = measured(&["-r", "2", "--show-output", "echo 4fd47015"]) else {
        return;
    };
    assert_eq!(
        text(&shown.stdout).matches("4fd47015\n").count(),
        2 + text(&shown.stdout).matches("echo 4fd47015\n").count()
    );
    if measured(&["-r", "2", "--output", &log, "echo to-the-file; echo not >&2"]).is_some() {
        assert_eq!(folder.read("log"), "to-the-file\n", "that of the last run");
    }
    // A program sees a pipe, and one that runs on holds it.
    let is_pipe = "test -p /dev/stdout";
    assert!(measured(&["-r", "2", "--output", "pipe", is_pipe]).is_some());
    assert_eq!(time(&["-r", "2", is_pipe]).status.code(), Some(1), "the twin");
    let wrong = time(&["-r", "2", "--output", "nul", "true"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert_says!(text(&wrong.stderr), "./nul");
}

#[test]
fn input_comes_from_the_file_in_each_run() {
    let folder = Folder::new();
    let file = folder.with("input", "This text is part of a file\n");
    assert!(measured(&["-r", "3", "--input", &file, "grep -q 'part of a file'"]).is_some());
    assert_eq!(
        time(&["-r", "2", "grep -q 'part of a file'"]).status.code(),
        Some(1),
        "the twin"
    );
    let missing = time(&["-r", "2", "--input", "no-such-file.txt", "cat"]);
    assert_eq!(missing.status.code(), Some(2));
    assert_says!(text(&missing.stderr), "--input no-such-file.txt");
}

/// It is prepared, since it may need that to fail in the same way.
#[test]
fn a_failed_command_is_run_once_more_for_the_end_of_its_output() {
    let folder = Folder::new();
    let log = folder.name("log");
    let failing =
        format!("echo run >> '{log}'; head -c 2000000 /dev/zero | tr '\\0' x; echo; echo the reason >&2; exit 3");
    let output = time(&["-r", "2", "--prepare", &format!("echo prepare >> '{log}'"), &failing]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert_says!(said, "run once more, its output ended:", "    the reason");
    assert!(said.len() < 3000, "{}", said.len());
    assert_eq!(folder.read("log"), "prepare\nrun\nprepare\nrun\n");
    // One that fails once only says so.
    let marker = folder.name("marker");
    let once = format!("[ -e '{marker}' ] || {{ touch '{marker}'; exit 9; }}");
    let said = text(&time(&["-r", "2", &once]).stderr);
    assert_says!(said, "status 9", "run once more, it succeeded");
    // What was shown is not shown again.
    let said = text(&time(&["-r", "2", "--show-output", "echo reason; exit 3"]).stderr);
    assert_says!(said, "its output is above");
}
