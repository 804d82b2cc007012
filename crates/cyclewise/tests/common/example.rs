//! Builds an example that a test uses: `cargo test --test NAME` alone builds none.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;

/// Has cargo build the example with this test's options, and returns the folder of the result.
///
/// `cargo test --workspace` has built it, with features that cargo would not choose for this package alone.
pub fn build(name: &str) -> PathBuf {
    match folder() {
        folder if is_new(&folder, name) => folder,
        _ => build_these(&["--example", name]),
    }
}

/// The same for these, which are all examples.
pub fn build_all<'a>(mut names: impl Iterator<Item = &'a str>) -> PathBuf {
    let folder = folder();
    match names.all(|name| is_new(&folder, name)) {
        true => folder,
        false => build_these(&["--examples"]),
    }
}

/// TARGET/PROFILE/examples, or TARGET/TRIPLE/PROFILE/examples, beside the folder of this program.
fn folder() -> PathBuf {
    std::env::current_exe()
        .unwrap()
        .ancestors()
        .nth(2)
        .unwrap()
        .join("examples")
}

/// Whether the example is as new as all that it is made of.
fn is_new(folder: &Path, name: &str) -> bool {
    let files = [folder.join(name), folder.join(format!("lib{name}.so"))];
    let Some(made) = files.iter().find_map(|file| file.metadata().ok()?.modified().ok()) else {
        return false;
    };
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let sources = [
        "../cyclewise/src",
        "examples",
        "build.rs",
        "Cargo.toml",
        "../../Cargo.toml",
        "../../Cargo.lock",
    ];
    sources.iter().all(|source| is_older(&package.join(source), made))
}

/// Whether nothing at this path is younger. What is not there is not.
fn is_older(path: &Path, made: SystemTime) -> bool {
    let Ok(found) = path.metadata() else { return true };
    match std::fs::read_dir(path) {
        Ok(mut entries) => entries.all(|entry| entry.is_ok_and(|entry| is_older(&entry.path(), made))),
        Err(_) => found.modified().is_ok_and(|at| at <= made),
    }
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
