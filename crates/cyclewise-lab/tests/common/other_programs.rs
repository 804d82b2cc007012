//! Has the programs of other packages beside that of the tests, which starts them. Tests of several packages include this file by its path.

use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::SystemTime;

/// A program, its package, and the packages of this workspace that it is made of.
pub struct Other {
    pub program: &'static str,
    pub package: &'static str,
    pub made_of: &'static [&'static str],
}

/// What `cyclewise simulate` starts.
pub const SIMULATOR: Other = Other {
    program: "cyclewise-sim",
    package: "cyclewise-sim",
    made_of: &["cyclewise-bench", "cyclewise-report", "cyclewise-sim"],
};

/// The program in this folder. `cargo test --workspace` has built it; where it is not there, or older than its sources or the last commit, which
/// it writes into records, it is built.
///
/// # Panics
/// If it cannot be built.
pub fn built(folder: &Path, other: &Other) -> PathBuf {
    /// One at a time: the second finds what the first has made.
    static BUILDING: Mutex<()> = Mutex::new(());
    let _building = BUILDING.lock().unwrap();
    let file = folder.join(other.program);
    if is_new(&file, other.made_of) {
        return file;
    }
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--quiet", "--package", other.package, "--bin", other.program]);
    // TARGET/debug, or TARGET/TRIPLE/debug; cargo marks TARGET.
    let above: Vec<_> = folder.ancestors().skip(1).take(2).collect();
    let target = above.iter().position(|folder| folder.join("CACHEDIR.TAG").exists());
    let target = target.expect("the tests' target folder");
    build.arg("--target-dir").arg(above[target]);
    if target == 1 {
        build.arg("--target").arg(above[0].file_name().unwrap());
    }
    if folder.ends_with("release") {
        build.arg("--release");
    }
    let status = build.current_dir(env!("CARGO_MANIFEST_DIR")).status().unwrap();
    assert!(
        status.success() && file.exists(),
        "cargo build -p {}: {status}",
        other.package
    );
    file
}

/// Whether a program is as new as the last commit and all sources of these packages.
fn is_new(program: &Path, packages: &[&str]) -> bool {
    let Ok(made) = program.metadata().and_then(|found| found.modified()) else {
        return false;
    };
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    // It grows with every commit and checkout.
    let commits = crates.join("../.git/logs/HEAD");
    is_older(&commits, made)
        && packages.iter().all(|package| {
            let package = crates.join(package);
            [
                "src",
                "templates",
                "c",
                "include",
                "data",
                "machines",
                "build.rs",
                "Cargo.toml",
            ]
            .iter()
            .all(|part| is_older(&package.join(part), made))
        })
}

/// Whether nothing at this path is younger. What is not there is not.
fn is_older(path: &Path, made: SystemTime) -> bool {
    let Ok(found) = path.metadata() else { return true };
    match std::fs::read_dir(path) {
        Ok(mut entries) => entries.all(|entry| entry.is_ok_and(|entry| is_older(&entry.path(), made))),
        Err(_) => Metadata::modified(&found).is_ok_and(|at| at <= made),
    }
}
