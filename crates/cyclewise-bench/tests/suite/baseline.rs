//! A run that is compared with the one before.

use super::{Ran, command};

/// Measures a group in one process, and keeps what there is below `home`. `None`, with the reason printed, where this machine leaves too few samples.
fn run(home: &tempfile::TempDir, arguments: &[&str]) -> Option<Ran> {
    let line = [&["--bench", "--time", "0.2", "--runs", "1", "sum"], arguments].concat();
    let mut command = command("good", &line);
    let ran = Ran::of_output(command.env("CYCLEWISE_BENCH_HOME", home.path()).output().unwrap());
    if ran.stderr.contains("samples were usable") {
        println!("skipped: this machine is too busy to measure");
        return None;
    }
    Some(ran)
}

const SAID: &str = "sum: against the run of ";

#[test]
fn each_run_is_compared_with_the_one_before() {
    let home = tempfile::tempdir().unwrap();
    let Some(first) = run(&home, &[]) else { return };
    assert_eq!(first.status, Some(0), "{}", first.stderr);
    assert!(!first.stdout.contains(SAID), "{}", first.stdout);
    assert_says!(first.line("kept in"), "base.jsonl");
    let Some(second) = run(&home, &[]) else { return };
    assert!(second.stderr.is_empty(), "{}", second.stderr);
    let (_, said) = second
        .stdout
        .split_once(SAID)
        .unwrap_or_else(|| panic!("{}", second.stdout));
    assert_says!(said, "iter", "four-times", "ratios without verdicts");
    let program = std::fs::read_dir(home.path()).unwrap().next().unwrap().unwrap().path();
    assert_eq!(std::fs::read_dir(program).unwrap().count(), 1, "a file for each name");
}

#[test]
fn a_baseline_has_the_name_that_it_is_given() {
    let home = tempfile::tempdir().unwrap();
    let none = run(&home, &["--baseline", "old"]).unwrap();
    assert_eq!(none.status, Some(2));
    assert_says!(none.line("--baseline old"), "--save-baseline old");
    let Some(saved) = run(&home, &["--save-baseline", "old"]) else {
        return;
    };
    assert_says!(saved.line("kept in"), "old.jsonl");
    let file = std::path::Path::new(saved.line("kept in").split([' ', ',']).nth(2).unwrap());
    let before = std::fs::read(file).unwrap();
    let Some(compared) = run(&home, &["--baseline", "old"]) else {
        return;
    };
    assert!(compared.stdout.contains(SAID), "{}", compared.stdout);
    assert_eq!(std::fs::read(file).unwrap(), before, "it stays");
    let two = run(&home, &["--baseline", "old", "--against", "main"]).unwrap();
    assert_eq!(two.status, Some(2), "{}", two.stderr);
    // A file that is none: told, and replaced by the next run that is kept.
    std::fs::write(file, "no baseline").unwrap();
    let Some(ran) = run(&home, &["--save-baseline", "old"]) else {
        return;
    };
    assert!(ran.status == Some(0), "{}", ran.stderr);
    assert_says!(ran.line("takes its place"), "old.jsonl");
}
