//! Tells records which commit the program was built from, where a package's own note or git knows, and how it was built.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let opt_level = std::env::var("OPT_LEVEL").unwrap_or_default();
    println!("cargo::rustc-env=CYCLEWISE_OPT_LEVEL={opt_level}");
    tell_commit();
}

fn tell_commit() {
    // In a package. A checkout around it, such as one of a home folder, is not this program's.
    if let Ok(note) = std::fs::read_to_string(".cargo_vcs_info.json") {
        println!("cargo::rerun-if-changed=.cargo_vcs_info.json");
        if let Some(commit) = noted(&note) {
            println!("cargo::rustc-env=CYCLEWISE_COMMIT={commit}");
        }
        return;
    }
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

/// The commit in the note that cargo writes into a package: `"sha1": "..."`.
fn noted(note: &str) -> Option<&str> {
    let (_, value) = note.split_once("\"sha1\"")?;
    value.split('"').nth(1)
}
