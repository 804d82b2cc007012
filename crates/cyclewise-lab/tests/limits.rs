//! What the command does where the machine refuses: one line, and the status of the contract.

use std::process::{Command, Output};

fn cyclewise(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cyclewise"));
    command.args(args);
    command
}

/// A stack that no address space has room for, so that no thread of std's can be made.
fn without_threads(args: &[&str]) -> Output {
    cyclewise(args)
        .env("RUST_MIN_STACK", "1000000000000000000")
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

const SWEEP: [&str; 8] = [
    "simulate",
    "fetch-add",
    "--machine",
    "i7-6700hq",
    "--threads",
    "1,2",
    "--ops",
    "50",
];

fn sweep<'a>(rest: &[&'a str]) -> Vec<&'a str> {
    [&SWEEP[..], rest].concat()
}

#[test]
fn a_thread_that_cannot_be_made_is_one_line() {
    for args in [
        &["verify", "refs", "--seconds", "1"][..],
        &["verify", "clock", "--seconds", "1"],
        &["verify", "percpu", "--seconds", "1"],
        // Refused before where text is not patched.
        &["verify", "patch", "--seconds", "1"],
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
        let output = without_threads(&["run", name, "--quick", "--json", "-"]);
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
    assert!(said.contains("one core does it all"), "{said}");
    assert_eq!(alone.stdout, cyclewise(&args).output().unwrap().stdout);
}
