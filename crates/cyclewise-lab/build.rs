//! Tells the program which commit it was built from, where git knows.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // HEAD's log grows with every commit and checkout; HEAD itself changes with the branch alone.
    for file in ["HEAD", "logs/HEAD"] {
        if let Some(path) = git(&["rev-parse", "--git-path", file]) {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    if let Some(commit) = git(&["rev-parse", "HEAD"]) {
        println!("cargo::rustc-env=CYCLEWISE_COMMIT={commit}");
    }
}

/// What git says in one line; `None` without git or outside a checkout.
fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).output().ok()?;
    let line = String::from_utf8(output.stdout).ok()?.trim().to_string();
    (output.status.success() && !line.is_empty()).then_some(line)
}
