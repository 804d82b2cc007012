//! Builds an example that a test uses: `cargo test --test NAME` alone builds none.

use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Has cargo build the example with this test's options, and returns the folder of the result.
///
/// After `cargo test --workspace` has built everything, cargo only checks that the result is fresh.
pub fn build(name: &str) -> PathBuf {
    build_these(&["--example", name])
}

/// The same for all examples.
pub fn build_all() -> PathBuf {
    build_these(&["--examples"])
}

fn build_these(examples: &[&str]) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    // TARGET/PROFILE/deps/this, or TARGET/TRIPLE/PROFILE/deps/this.
    let [profile_folder, target] = [2, 3].map(|n| test.ancestors().nth(n).unwrap());
    let profile = match profile_folder.file_name().and_then(|name| name.to_str()) {
        Some("debug") => "dev",
        other => other.unwrap(),
    };
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .args(["build", "--quiet", "--package", env!("CARGO_PKG_NAME")])
        .args(examples)
        .args(["--profile", profile])
        .current_dir(env!("CARGO_MANIFEST_DIR"));
    match target.file_name().and_then(|name| name.to_str()) {
        Some(triple) if triple.contains("-linux-") => {
            cargo
                .args(["--target", triple, "--target-dir"])
                .arg(target.parent().unwrap());
        }
        _ => {
            cargo.arg("--target-dir").arg(target);
        }
    }
    let status = cargo.stdin(Stdio::null()).status();
    assert!(
        status.as_ref().is_ok_and(std::process::ExitStatus::success),
        "the example cannot be built: {status:?}; see the output of {cargo:?}"
    );
    profile_folder.join("examples")
}
