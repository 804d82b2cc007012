//! Rows that sample themselves, as those of the lab do, in a program of a user.

use super::{measured, run};
use cyclewise_bench::record::Verdict;

#[test]
fn they_are_measured_as_groups_are() {
    let Some((ran, record)) = measured("experiments", &["--runs", "2"]) else {
        return;
    };
    assert_eq!(ran.status, Some(1), "{}", ran.stderr);
    let names: Vec<&str> = record.experiments.iter().map(|e| &*e.name).collect();
    assert_eq!(names, ["own", "group"]);
    let own = &record.experiments[0];
    let pairs: Vec<(&str, &str)> = own.comparisons.iter().map(|c| (&*c.a, &*c.b)).collect();
    assert_eq!(pairs, [("more", "less"), ("less", "unused")]);
    // Four times the work in the same rounds.
    assert_ne!(own.comparisons[0].verdict, Verdict::Faster);
    assert_eq!((&*own.question, &*own.source), ("Is more work slower?", "a test"));
    assert!(
        ran.line("no sample")
            .starts_with("cyclewise-bench: own/bad: panicked at ")
    );
    assert!(ran.line("of another kind").starts_with("cyclewise-bench: lacks: needs"));
    let lacks = record.missing.iter().find(|m| m.experiment == "lacks").unwrap();
    let bad = record.missing.iter().filter(|m| m.variant.as_deref() == Some("bad"));
    assert!(!lacks.possible && bad.count() == 1, "{:?}", record.missing);
}

#[test]
fn they_are_listed_tried_and_chosen_as_groups_are() {
    let ran = run("experiments", &["--list", "own/"]);
    for row in ["unused", "more", "less", "bad"] {
        assert!(
            ran.stdout.contains(&format!("own/{row}: benchmark\n")),
            "{row}: {}",
            ran.stdout
        );
    }
    assert!(!ran.stdout.contains("group/"), "{}", ran.stdout);
    let ran = run("experiments", &["--test", "own/l", "own/bad", "group"]);
    for line in [
        "test own/less ... ok",
        "test own/bad ... FAILED",
        "test group/good ... ok",
    ] {
        assert!(ran.stdout.contains(line), "{line}: {}", ran.stdout);
    }
    assert!(!ran.stdout.contains("own/more"), "{}", ran.stdout);
    assert!(
        !ran.stderr.contains("another kind"),
        "it was not asked for: {}",
        ran.stderr
    );
    let Some((ran, record)) = measured("experiments", &["--runs", "1", "own/more", "own/less"]) else {
        return;
    };
    assert_eq!((ran.status, record.missing.len()), (Some(0), 0), "{}", ran.stderr);
    let pairs: Vec<(&str, &str)> = record.experiments[0]
        .comparisons
        .iter()
        .map(|c| (&*c.a, &*c.b))
        .collect();
    assert_eq!(pairs, [("more", "less")]);
}

#[test]
fn what_a_machine_lacks_fails_a_run_where_it_is_named() {
    let named = run("experiments", &["--bench", "--runs", "1", "lacks"]);
    assert_eq!(named.status, Some(3));
    assert!(
        named
            .line("of another kind")
            .starts_with("cyclewise-bench: lacks: needs")
    );
    let tried = run("experiments", &["--test", "--skip", "own/bad"]);
    assert_eq!(tried.status, Some(0), "{}", tried.stderr);
    assert!(
        tried.stdout.contains("test lacks ... ignored, needs a CPU"),
        "{}",
        tried.stdout
    );
}
