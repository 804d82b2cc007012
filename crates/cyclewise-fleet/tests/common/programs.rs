//! The other programs of the tests, beside this package's: `cyclewise`, which planned jobs start, and the simulator, which that starts.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::SystemTime;

/// The lab's program. Those that it starts are beside it.
pub fn cyclewise() -> PathBuf {
    static BUILT: OnceLock<()> = OnceLock::new();
    BUILT.get_or_init(|| {
        build("cyclewise-lab", "cyclewise");
        build("cyclewise-sim", "cyclewise-sim");
    });
    folder().join("cyclewise")
}

fn folder() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_cyclewise-fleet")).parent().unwrap()
}

/// Builds a program, unless it is there and as new as its sources.
///
/// # Panics
/// If it cannot be built.
fn build(package: &str, program: &str) {
    let folder = folder();
    let file = folder.join(program);
    if is_new(&file) {
        return;
    }
    let mut build = Command::new(env!("CARGO"));
    build.args([
        "build",
        "--quiet",
        "--package",
        package,
        "--bin",
        program,
        "--target-dir",
    ]);
    // TARGET/debug, or TARGET/TRIPLE/debug; cargo marks TARGET.
    let above: Vec<_> = folder.ancestors().skip(1).take(2).collect();
    let target = above.iter().position(|folder| folder.join("CACHEDIR.TAG").exists());
    let target = target.expect("the tests' target folder");
    build.arg(above[target]);
    if target == 1 {
        build.arg("--target").arg(above[0].file_name().unwrap());
    }
    if folder.ends_with("release") {
        build.arg("--release");
    }
    let status = build.current_dir(env!("CARGO_MANIFEST_DIR")).status().unwrap();
    assert!(status.success() && file.exists(), "cargo build -p {package}: {status}");
}

/// Whether a program is as new as all files that cargo says it is made of.
fn is_new(program: &Path) -> bool {
    let changed = |path: &Path| path.metadata().and_then(|found| found.modified());
    let (Ok(made), Ok(list)) = (changed(program), std::fs::read_to_string(program.with_extension("d"))) else {
        return false;
    };
    let sources = list.split_once(": ").map_or("", |(_, sources)| sources);
    let is_older = |source: &str| changed(Path::new(source)).is_ok_and(|at: SystemTime| at <= made);
    !sources.is_empty() && sources.split_whitespace().all(is_older)
}
