//! The examples run and say what they are to say.
//!
//! Not under an emulator, which cannot start a second program.
#![cfg(target_arch = "x86_64")]

#[path = "../../cyclewise/tests/common/example.rs"]
#[allow(dead_code, unreachable_pub, reason = "a module of many tests")]
mod example;

use std::process::Command;

#[test]
fn spans_are_timed() {
    let output = Command::new(example::build("spans").join("spans")).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(text.matches("parse was open for").count(), 2, "{text}");
    assert_eq!(text.matches("request was open for").count(), 1, "{text}");
    assert_eq!(
        text.matches("Z  INFO request{path=\"/\"}:parse{part=").count(),
        2,
        "{text}"
    );
}
