//! `cargo xtask package`: every package that is published is packed, built from its own tarball, and its tarball checked.
//!
//! The packages are built as a user of the registry gets them: cargo packs all of them, and builds each from its unpacked
//! tarball with the others' tarballs in place of a registry. Where everything that they depend on has been downloaded, no
//! network is used.

mod forget;
mod metadata;
mod tarball;

use crate::Outcome;
use crate::cargo::{cargo, succeeds};
use metadata::Metadata;
use std::path::Path;
use tarball::Tarball;

/// Runs it on the workspace at `root`.
///
/// # Errors
/// Where there are options: it has none.
pub(crate) fn run(root: &Path, options: &[String]) -> Result<Outcome, String> {
    if let Some(option) = options.first() {
        return Err(format!("package does not know {option:?}; it takes no options"));
    }
    let metadata = match Metadata::read(root) {
        Ok(metadata) => metadata,
        Err(why) => {
            println!("package: not checked: {why}");
            return Ok(Outcome::Impossible);
        }
    };
    // The workspace's own artefacts stay as they are: its profiles are not those of a package.
    let target = metadata.target.join("package-check");
    if let Err(error) = forget::earlier_packages(&target) {
        println!("package: FAILED: what an earlier run left cannot be removed: {error}");
        return Ok(Outcome::Failed);
    }
    if !packed_and_built(root, &target, &metadata) {
        println!("package: FAILED: cargo's own message is above");
        return Ok(Outcome::Failed);
    }
    let mut failures = 0;
    for package in &metadata.published {
        let file = format!("package/{}-{}.crate", package.name, package.version);
        let problems = match Tarball::read(&target.join(file)) {
            Ok(tarball) => {
                println!("package: {}: {}", package.name, tarball.size());
                tarball.problems(root)
            }
            Err(why) => vec![why],
        };
        failures += problems.len();
        for problem in problems {
            println!("package: {}: {problem}", package.name);
        }
    }
    let verdict = if failures == 0 { "passed" } else { "FAILED" };
    println!(
        "package: {verdict}: {} packages, {failures} failures",
        metadata.published.len()
    );
    Ok((failures == 0).into())
}

/// Packs all that is published, and builds each from its tarball.
fn packed_and_built(root: &Path, target: &Path, metadata: &Metadata) -> bool {
    let mut command = cargo(root);
    // A package to be published must be committed; what is checked here need not be.
    command.args(["package", "--locked", "--allow-dirty"]);
    command.args(
        metadata
            .published
            .iter()
            .flat_map(|package| ["--package", &package.name]),
    );
    command.args(metadata.offline.then_some("--offline"));
    // They are built to see whether they build.
    command
        .env("CARGO_TARGET_DIR", target)
        .env("CARGO_PROFILE_DEV_DEBUG", "0");
    succeeds(&mut command, "package")
}
