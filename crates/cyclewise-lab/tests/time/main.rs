//! `cyclewise time`: whole commands, interleaved, with the kernel's accounts; and what happens when one fails.

#[macro_use]
extern crate cyclewise_bench;

#[path = "../common/mod.rs"]
mod common;
mod failures;
mod options;
mod output;
mod signals;

use common::{Folder, cyclewise, text, with};
use cyclewise_lab::record::{self, Record};
use std::process::Output;

fn time(args: &[&str]) -> Output {
    cyclewise(&[&["time"], args].concat())
}

/// The measurement; `None`, with a printed reason, where the hypervisor took time from every run.
fn measured(args: &[&str]) -> Option<Output> {
    for _ in 0..5 {
        let output = time(args);
        let said = text(&output.stderr);
        if output.status.code() == Some(0) {
            return Some(output);
        }
        assert!(output.status.code() == Some(3), "{said}");
        assert_says!(said, "samples were usable");
    }
    println!("skipped: no run of a command is left alone on this machine");
    None
}

fn record(args: &[&str]) -> Option<Record> {
    Some(record::from_str("stdout", &text(&measured(args)?.stdout)).unwrap())
}

#[test]
fn a_sleep_takes_its_time_and_no_cpu() {
    // One process, whose own time and whose sleep exclude each other.
    let Some(r) = record(&["-r", "4", "--json", "-", "exec sleep 0.05", "true"]) else {
        return;
    };
    let e = &r.experiments[0];
    assert_eq!((e.name.as_str(), e.variants.len()), ("time", 2));
    assert!(e.variants.iter().all(|v| v.n >= 2 && v.n + v.rejected >= 4));
    let sleep = &e.variants[0];
    assert!(sleep.min >= 0.05, "{}", sleep.min);
    let names: Vec<String> = sleep
        .metrics
        .iter()
        .map(|(name, m)| format!("{name} [{}]", m.unit))
        .collect();
    insta::assert_snapshot!(names.join(", "), @"involuntary-switches [1], major-faults [1], max-rss [KiB], minor-faults [1], sys [s], user [s], voluntary-switches [1]");
    for metric in sleep.metrics.keys() {
        assert_eq!(sleep.metrics[metric].samples.len(), sleep.n, "{metric}");
    }
    assert!(sleep.metrics["voluntary-switches"].samples.iter().all(|n| *n >= 1.0));
    let (user, sys) = (&sleep.metrics["user"].samples, &sleep.metrics["sys"].samples);
    for ((wall, user), sys) in sleep.samples.iter().zip(user).zip(sys) {
        // A millisecond of tolerance, because the clocks differ.
        assert!(user + sys <= wall - 0.05 + 0.001, "{user} {sys} {wall}");
    }
    assert_eq!(
        (e.comparisons[0].a.as_str(), e.comparisons[0].b.as_str()),
        ("true", "exec sleep 0.05")
    );
}

#[test]
fn commands_are_interleaved_and_prepared_each_time() {
    let folder = Folder::new();
    let log = folder.path("log");
    let say = |word: &str| format!("echo {word} >> '{}'", log.display());
    let (a, b, prepare) = (say("a"), say("b"), say("prepare"));
    if record(&["-r", "8", "--seed", "3", "--json", "-", "--prepare", &prepare, &a, &b]).is_none() {
        return;
    }
    let log = std::fs::read_to_string(log).unwrap();
    let words: Vec<&str> = log.lines().collect();
    assert!(words.len() >= 32);
    assert!(
        words.chunks(2).all(|pair| pair[0] == "prepare" && pair[1] != "prepare"),
        "{words:?}"
    );
    let order: Vec<&str> = words.chunks(2).map(|pair| pair[1]).collect();
    assert!(
        order
            .chunks(2)
            .all(|round| round.contains(&"a") && round.contains(&"b")),
        "{order:?}"
    );
    assert!(
        order.chunks(2).any(|r| r[0] == "a") && order.chunks(2).any(|r| r[0] == "b"),
        "{order:?}"
    );
}

#[test]
fn the_table_shows_the_t_test_and_every_run_on_request() {
    let Some(output) = measured(&["-r", "3", "--list-runs", "true", "sleep 0.01"]) else {
        return;
    };
    let table = text(&output.stdout);
    for says in [
        // Narrow columns break their units into the next line.
        "user",
        "max-rss",
        "sleep 0.01 minus true",
        "standard error of the difference",
        "two-tailed p",
        "run of",
    ] {
        assert!(table.contains(says), "no {says:?} in:\n{table}");
    }
    assert!(!table.contains('\x1b'));
    assert!(text(&output.stderr).contains("round"), "progress goes to stderr");
}

#[test]
fn without_a_shell_words_are_words() {
    let words = record(&["-r", "2", "-N", "--warmup", "1", "--json", "-", "printf '%s' '$HOME'"]);
    assert!(words.is_none_or(|r| r.experiments[0].variants[0].n >= 2));
    let missing = time(&["-r", "2", "-N", "no-such-program-here"]);
    assert_eq!(missing.status.code(), Some(1));
    let said = text(&missing.stderr);
    // User-mode emulators start programs by fork, so there only the child's status shows the failure.
    let known = ["No such file or directory", "exited with status 127"];
    assert!(
        said.contains("no-such-program-here") && known.iter().any(|k| said.contains(k)),
        "{said}"
    );
}
