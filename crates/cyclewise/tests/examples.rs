//! Each example runs and its assertions hold. The interpreter, a larger program, prints the same without LOCK.
//!
//! On x86-64 only: elsewhere the test may run under an emulator, which cannot start a second program.
#![cfg(target_arch = "x86_64")]

mod common;

use common::example;
use std::process::{Command, Output};

/// Not run as they are: libraries, and a program that takes arguments, which runs below.
const NOT_ALONE: [&str; 3] = ["plugin", "allocator", "interpreter"];

#[test]
fn each_example_runs() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let names: Vec<_> = files
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    let built = example::build_all(names.iter().map(String::as_str));
    let mut run = 0;
    for name in names.iter().filter(|name| !NOT_ALONE.contains(&name.as_str())) {
        let program = built.join(name);
        let Output { status, stdout, stderr } = Command::new(&program).output().unwrap();
        let text = String::from_utf8_lossy(&stdout);
        print!("{name}: {text}");
        assert!(
            status.success() && !text.is_empty(),
            "{name}: {status}: {}",
            String::from_utf8_lossy(&stderr)
        );
        run += 1;
    }
    assert!(run >= 12, "{run} examples");
}

fn interpreter(arguments: &[&str]) -> Output {
    let program = example::build("interpreter").join("interpreter");
    let output = Command::new(&program).args(arguments).output();
    output.unwrap_or_else(|e| panic!("{program:?}: {e}"))
}

#[test]
fn prints_the_same_elided_and_locked() {
    let locked = interpreter(&["--locked", "6"]);
    let elided = interpreter(&["--elided", "6"]);
    assert!(
        locked.status.success() && elided.status.success(),
        "{locked:?} {elided:?}"
    );
    let text = String::from_utf8(locked.stdout).unwrap();
    assert!(text.starts_with("6 thousand steps, checksum "), "{text}");
    assert_eq!(text.as_bytes(), elided.stdout);
    assert!(locked.stderr.is_empty());
    let said = String::from_utf8(elided.stderr).unwrap();
    let expected = if cfg!(all(target_env = "gnu", not(target_feature = "crt-static"))) {
        "LOCK is gone from "
    } else {
        "LOCK stays: thread creation cannot be watched"
    };
    assert!(said.starts_with(expected), "{said}");
}

#[test]
fn says_what_it_takes() {
    let output = interpreter(&["--unlocked"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().starts_with("usage: "));
}
