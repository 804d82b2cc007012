//! The examples run and say what they are to say.
//!
//! Not under an emulator, which cannot start a second program.
#![cfg(target_arch = "x86_64")]

use std::process::{Command, Stdio};

#[test]
fn spans_are_timed() {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args([
        "run",
        "--quiet",
        "--package",
        env!("CARGO_PKG_NAME"),
        "--example",
        "spans",
    ]);
    let output = cargo
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
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
