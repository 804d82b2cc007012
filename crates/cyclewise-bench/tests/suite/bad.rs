//! Bad input: one clear line each, the right status, and what there is.

use super::programs::BEGUN;
use super::signals::with_default_signals;
use super::{Ran, command, measured, run};
use cyclewise_bench::record;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

#[test]
fn a_body_that_panics_is_a_line_and_the_others_go_on() {
    let Some((ran, record)) = measured("panics", &[]) else {
        return;
    };
    assert_eq!(ran.status, Some(1));
    let line = ran.line("not today");
    assert!(line.starts_with("cyclewise-bench: some/bad: panicked at "), "{line}");
    assert_says!(line, "programs.rs");
    let rows: Vec<&str> = record.experiments[0].variants.iter().map(|v| &*v.name).collect();
    assert_eq!((rows, record.experiments.len()), (vec!["good", "also-good"], 2));
    assert_eq!(record.missing[0].variant.as_deref(), Some("bad"));
}

#[test]
fn a_process_that_crashes_keeps_what_those_before_it_measured() {
    let Some((ran, record)) = measured("crashes", &[]) else {
        return;
    };
    assert_eq!(ran.status, Some(1));
    assert_eq!((record.runs.len(), &*record.experiments[0].name), (1, "first"));
    let missing = &record.missing[0];
    assert!(missing.experiment == "process 2 of 5", "{missing:?}");
    assert_says!(missing.why, "SIGABRT");
    assert_says!(ran.stdout, "missing: process 2 of 5");
    assert_eq!(
        ran.stdout.matches("the program's own line").count(),
        1,
        "{}",
        ran.stdout
    );
}

#[test]
fn a_generator_that_panics_is_its_rows_failure() {
    let Some((ran, record)) = measured("bad-maker", &[]) else {
        return;
    };
    assert_eq!(ran.status, Some(1));
    assert!(
        ran.line("no input")
            .starts_with("cyclewise-bench: maker/bad: panicked at ")
    );
    assert_eq!(record.experiments[0].variants[0].name, "good");
}

#[test]
fn a_panic_between_groups_keeps_those_before() {
    let Some((ran, record)) = measured("outside", &[]) else {
        return;
    };
    assert_eq!(ran.status, Some(1));
    assert_says!(ran.line("between groups"), "outside of any function");
    assert_eq!(record.experiments[0].name, "first");
}

#[test]
fn a_body_that_never_ends_is_ended_by_a_limit_that_is_named() {
    let Some((ran, record)) = measured("endless", &["--call-limit", "1"]) else {
        return;
    };
    assert_eq!(ran.status, Some(1));
    let line = ran.line("second/endless");
    assert_says!(line, "for 1 s", "--call-limit");
    assert_eq!(record.experiments[0].name, "first", "what was measured before is kept");
    assert_says!(ran.stdout, "first: good takes");
    // Run once as a test, it is ended, too.
    assert_eq!(run("endless", &["--call-limit", "1"]).status, Some(1));
}

#[test]
fn a_body_that_allocates_without_end_is_ended_by_a_limit_that_is_named() {
    let Some((ran, record)) = measured("hungry", &["--memory-limit", "50000000"]) else {
        return;
    };
    assert_eq!(ran.status, Some(1));
    let line = ran.line("second/hungry");
    assert_says!(line, "50000000 bytes", "--memory-limit");
    assert_eq!(record.experiments[0].name, "first");
}

#[test]
fn less_than_a_tick_is_no_failure() {
    let Some((ran, record)) = measured("nothing", &[]) else {
        return;
    };
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    assert_eq!(record.experiments[0].variants.len(), 2);
}

#[test]
fn names_that_cannot_be_told_apart_are_refused() {
    let Some((ran, record)) = measured("twice", &[]) else {
        return;
    };
    assert_eq!(ran.status, Some(2));
    assert!(ran.line("a group of this name").starts_with("cyclewise-bench: a: "));
    assert!(ran.line("has x twice").starts_with("cyclewise-bench: b: "));
    assert_eq!(record.experiments.len(), 1, "the first of the two is measured");
}

#[test]
fn groups_that_make_no_sense_are_refused() {
    let ran = run("zero-threads", &["--bench"]);
    assert_eq!(ran.status, Some(2));
    assert!(ran.line("zero threads").starts_with("cyclewise-bench: zero: "));
    let ran = run("unlike", &["--bench"]);
    assert_eq!(ran.status, Some(2));
    for part in ["make two groups", "the name of a group is empty", "has no variants"] {
        ran.line(part);
    }
}

#[test]
fn a_wrong_option_measures_nothing() {
    for (arguments, part) in [
        (["--jsn", "x"], "there is no option --jsn"),
        (["--json", "/no/such/folder/x.json"], "--json /no/such/folder/x.json"),
        (["--cpu", "1023"], "--cpu 1023"),
    ] {
        let ran = run("panics", &[&["--bench", "other"], &arguments[..]].concat());
        assert_eq!(ran.status, Some(2));
        ran.line(part);
        assert_lacks!(ran.stdout, "takes");
    }
}

#[test]
fn a_page_needs_the_program_that_makes_it() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html").display().to_string();
    let mut command = command("good", &["--bench", "--html", &page]);
    let ran = Ran::of_output(command.env("PATH", folder.path()).output().unwrap());
    assert_eq!(ran.status, Some(3));
    assert_says!(ran.line("--html"), "cargo install --path crates/cyclewise-lab");
}

#[test]
fn what_there_is_at_an_interrupt_is_kept_and_marked() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("record.json");
    let path = file.display().to_string();
    let slow = command("slow", &["--bench", "--time", "600", "--json", &path]);
    let mut command = with_default_signals(&slow);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains(BEGUN) {
        line.clear();
        assert!(stderr.read_line(&mut line).unwrap() > 0, "it ended early");
    }
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    if !sent.is_ok_and(|status| status.success()) {
        println!("skipped: no program kill");
        child.kill().unwrap();
        child.wait().unwrap();
        return;
    }
    let mut rest = String::new();
    stderr.read_to_string(&mut rest).unwrap();
    let ran = Ran::of_output(child.wait_with_output().unwrap());
    assert_eq!(ran.status, None, "it ends by the signal: {rest}");
    let record = record::load(&file).unwrap();
    let why: Vec<&str> = record.missing.iter().map(|m| &*m.why).collect();
    assert!(why[0].starts_with("cut short by Ctrl-C after "), "{why:?}");
    assert_eq!(
        why[1..],
        ["not begun before Ctrl-C"; 2],
        "the other group, and four processes"
    );
    assert_says!(ran.stdout, "missing: slow: cut short");
}

#[test]
fn one_cpu_is_enough() {
    let cpu = cyclewise_bench::sys::affinity::allowed().unwrap()[0].to_string();
    let whole = command("good", &["--bench", "--time", "0.2", "counter"]);
    let mut confined = Command::new("taskset");
    confined
        .args(["-c", &cpu])
        .arg(whole.get_program())
        .args(whole.get_args());
    confined.envs(whole.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let Ok(output) = confined.output() else {
        println!("skipped: no program taskset");
        return;
    };
    let ran = Ran::of_output(output);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    assert_says!(ran.stdout, "2 threads have one CPU");
}
