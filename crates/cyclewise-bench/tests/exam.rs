//! The side-by-side exam in its short form, which needs no other harness.

#[path = "../examples/exam/main.rs"]
#[allow(dead_code, reason = "its own `main` is another")]
mod exam;

use std::ffi::OsString;
use std::process::Command;

const ARGUMENTS: &str = "CYCLEWISE_EXAM_ARGUMENTS";

/// In a child, the benchmark program of the exam; nothing elsewhere.
#[test]
fn program() {
    let Ok(arguments) = std::env::var(ARGUMENTS) else {
        return;
    };
    let status = cyclewise_bench::suite::run(arguments.lines().map(OsString::from), exam::ours);
    std::process::exit(i32::from(status));
}

fn command(arguments: &[OsString]) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "program", "--nocapture", "--test-threads", "1"]);
    let text: Vec<String> = arguments.iter().map(|a| a.clone().into_string().unwrap()).collect();
    command.env(ARGUMENTS, text.join("\n"));
    command
}

#[test]
fn the_short_form_compares_one_body_with_itself_and_with_more_work() {
    let words = ["--quick".to_string()];
    let text = exam::exam(words.into_iter(), command).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let [load, head, ours, ""] = lines[..] else {
        panic!("{text}")
    };
    assert!(load == "quiet" && head.starts_with("harness"), "{text}");
    // What it says is the machine's affair: a busy one may leave too few samples, which is a failure that is counted.
    assert!(ours.starts_with("cyclewise ") && ours.contains(" of 4 "), "{text}");
    assert!(
        text.contains("failed") || ours.ends_with(|c: char| c.is_ascii_digit()),
        "{text}"
    );
}

#[test]
fn a_wrong_option_measures_nothing() {
    let words = ["--load", "windy"].map(String::from);
    let why = exam::exam(words.into_iter(), command).unwrap_err();
    assert!(why.contains("windy"), "{why}");
}
