//! A real program, the example of the same name: taking LOCK away changes what it costs, not what it prints.
//!
//! Where LOCK is. Elsewhere the test may run under an emulator, which starts no second program of its architecture.
#![cfg(target_arch = "x86_64")]

mod example;

use std::process::{Command, Output};

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
