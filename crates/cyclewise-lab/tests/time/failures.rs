//! Runs that fail: counted, shown, recorded; and what is said of a pair of which one failed more often.

use super::*;
use cyclewise_lab::record::Verdict;

fn recorded(args: &[&str]) -> Option<(Record, String)> {
    let folder = Folder::new();
    let json = folder.name("r.json");
    let output = measured(&[&["--json", &json], args].concat())?;
    let record = record::load(&folder.path("r.json")).unwrap();
    Some((record, text(&output.stdout)))
}

/// The text without line breaks, which a narrow table puts anywhere between words.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_side_that_fails_more_often_gets_no_verdict() {
    let Some((r, table)) = recorded(&["-i", "-r", "12", "sleep 0.05", "kill -SEGV $$"]) else {
        return;
    };
    let [sleep, crash] = &r.experiments[0].variants[..] else {
        panic!()
    };
    let crash = crash.timed.as_ref().unwrap();
    assert_eq!(crash.failed["ended by SIGSEGV"], crash.runs);
    assert!(crash.exit_codes.iter().all(|code| *code == 139));
    let sleep = sleep.timed.as_ref().unwrap();
    assert_eq!((sleep.failures(), sleep.runs), (0, crash.runs));
    let c = &r.experiments[0].comparisons[0];
    assert_eq!(c.verdict, Verdict::None);
    assert_says!(c.reason.as_ref().unwrap(), "ended by SIGSEGV");
    let said = format!("{0} of {0} ended by SIGSEGV", crash.runs);
    assert!(flat(&table).contains(&said), "{table}");
    assert_lacks!(table, ": faster");
}

#[test]
fn the_twins_of_equal_failures_are_compared() {
    let Some((r, _)) = recorded(&["-i=3", "-r", "12", "sleep 0.03; exit 3", "exit 3"]) else {
        return;
    };
    let c = &r.experiments[0].comparisons[0];
    // Decided or not, but not because of the failures.
    assert!(
        !c.reason.as_ref().is_some_and(|r| r.contains("more often")),
        "{:?}",
        c.reason
    );
    assert!(
        r.experiments[0]
            .variants
            .iter()
            .all(|v| v.timed.as_ref().unwrap().failures() >= 12)
    );
}

#[test]
fn statuses_that_are_no_failures_are_not_counted() {
    let Some((r, table)) = recorded(&["--ok-exit", "0,1", "-r", "3", "exit 1", "true"]) else {
        return;
    };
    let timed = r.experiments[0].variants[0].timed.as_ref().unwrap();
    assert!(timed.failed.is_empty() && timed.exit_codes.iter().all(|code| *code == 1));
    assert_lacks!(table, "exited with");
    // Status 0 is a failure where it is not among them.
    let output = time(&["--ok-exit", "1", "-r", "2", "true"]);
    assert_eq!(output.status.code(), Some(1));
    assert_says!(text(&output.stderr), "exited with status 0");
}

#[test]
fn statuses_that_are_not_listed_end_the_measurement() {
    let output = time(&["-i=1,2", "-r", "2", "exit 4"]);
    assert_eq!(output.status.code(), Some(1));
    assert_says!(text(&output.stderr), "exited with status 4");
    let wrong = time(&["-i=one", "-r", "2", "true"]);
    assert_eq!(wrong.status.code(), Some(2), "{}", text(&wrong.stderr));
}

#[test]
fn failed_runs_may_be_left_out() {
    let folder = Folder::new();
    let marker = folder.name("marker");
    // Every second run fails, and at once.
    let flaky = format!("if [ -e '{marker}' ]; then rm '{marker}'; exit 7; fi; touch '{marker}'; sleep 0.02");
    let Some((r, _)) = recorded(&["--drop-failed", "-r", "3", &flaky]) else {
        return;
    };
    let v = &r.experiments[0].variants[0];
    let timed = v.timed.as_ref().unwrap();
    assert_eq!(v.rejected_by["unsuccessful"], timed.failed["exited with status 7"]);
    assert!(v.min >= 0.02 && timed.exit_codes.iter().all(|code| *code == 0), "{v:?}");
}

#[test]
fn a_run_beyond_the_limit_is_ended_with_all_that_it_started() {
    let folder = Folder::new();
    let pid = folder.name("pid");
    let hangs = format!("sleep 600 & echo $! > '{pid}'; wait");
    let output = time(&["--timeout", "0.2", "-r", "2", &hangs]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert_says!(said, "longer than the 0.2 s of --timeout");
    assert!(signals::is_gone(folder.read("pid").trim()));
}
