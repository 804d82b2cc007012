//! Checks features: each alone and each left out compiles without a warning, with and without `std` where there is that, and the
//! table of the library's documentation names the packages that each one adds.

mod combinations;
mod table;

use crate::cargo::{cargo, metadata, succeeds};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The package whose features have a table.
const PACKAGE: &str = "cyclewise";
/// The harness, which a user's benchmarks build.
const HARNESS: &str = "cyclewise-bench";
/// The packages, itself included, that it is built from at most.
const MOST_PACKAGES: usize = 40;
/// The file whose documentation has the table.
const TABLE: &str = "crates/cyclewise/src/lib.rs";

/// A set of features.
type Features = BTreeSet<String>;
/// Each feature, and the features that it turns on.
type Implied = BTreeMap<String, Features>;

/// Runs both checks on the workspace at `root`; true where both passed.
pub(crate) fn run(root: &Path) -> bool {
    let mut problems = check(root, PACKAGE);
    problems.extend(check(root, HARNESS));
    for problem in &problems {
        println!("features: {problem}");
    }
    let verdict = if problems.is_empty() { "passed" } else { "FAILED" };
    println!("features: {verdict}: {} failures", problems.len());
    problems.is_empty()
}

fn check(root: &Path, package: &str) -> Vec<String> {
    let implied = match implied(root, package) {
        Ok(implied) => implied,
        Err(why) => return vec![why],
    };
    let mut problems = match package {
        PACKAGE => table::check(root, &implied),
        _ => match table::tree(root, package, "") {
            Ok(packages) => too_many(packages.len()).into_iter().collect(),
            Err(why) => vec![why],
        },
    };
    let combinations = combinations::to_try(&implied);
    println!("features: {package}: {} combinations", combinations.len());
    let failed = combinations
        .iter()
        .filter(|features| !compiles(root, package, features));
    problems.extend(failed.map(|features| {
        let features = joined(features);
        format!("{package}: {features:?} has an error or a warning; it is above")
    }));
    problems
}

fn too_many(packages: usize) -> Option<String> {
    let line = format!(
        "{HARNESS}: it is built from {packages} packages; at most {MOST_PACKAGES} keep a benchmark's build short"
    );
    (packages > MOST_PACKAGES).then_some(line)
}

/// Whether the package's library compiles with these features and no others, without a warning of clippy's.
fn compiles(root: &Path, package: &str, features: &Features) -> bool {
    let features = joined(features);
    let mut command = cargo(root);
    command.args(["clippy", "--quiet", "--locked", "--package", package, "--lib"]);
    command.args(["--no-default-features", "--features", &features]);
    command.args(["--", "-D", "warnings"]);
    succeeds(&mut command, "features")
}

/// The features of the package, from its manifest.
fn implied(root: &Path, package: &str) -> Result<Implied, String> {
    let metadata = metadata(root, ["--no-deps"])?;
    features_in(&metadata, package).ok_or_else(|| format!("cargo metadata names no features of {package}"))
}

fn features_in(metadata: &Value, name: &str) -> Option<Implied> {
    let packages = metadata["packages"].as_array()?;
    let package = packages.iter().find(|package| package["name"] == name)?;
    let features = package["features"].as_object()?;
    // `dep:NAME` and `NAME/FEATURE` are about other packages.
    let names = |values: &Value| {
        let values = values.as_array().map_or(&[][..], Vec::as_slice);
        let names = values.iter().filter_map(Value::as_str);
        names
            .filter(|name| !name.contains([':', '/']))
            .map(str::to_owned)
            .collect()
    };
    Some(
        features
            .iter()
            .map(|(name, values)| (name.clone(), names(values)))
            .collect(),
    )
}

/// Features as `--features` takes them.
fn joined(features: &Features) -> String {
    let names: Vec<_> = features.iter().map(String::as_str).collect();
    names.join(",")
}

#[cfg(test)]
mod tests {
    use super::{MOST_PACKAGES, PACKAGE, features_in, joined, too_many};
    use serde_json::json;

    #[test]
    fn a_harness_of_many_packages_is_found() {
        assert_eq!(too_many(MOST_PACKAGES), None);
        assert!(too_many(MOST_PACKAGES + 1).unwrap().contains("41 packages"));
    }

    #[test]
    fn features_are_read_without_dependencies() {
        let metadata = json!({ "packages": [
            { "name": "other", "features": { "wrong": [] } },
            { "name": "cyclewise", "features": { "default": ["std", "refs"], "refs": ["lock", "dep:libc", "a/b"], "std": [] } },
        ] });
        let found = features_in(&metadata, PACKAGE).unwrap();
        assert_eq!(joined(&found["refs"]), "lock");
        assert_eq!(joined(&found["default"]), "refs,std");
        assert!(found["std"].is_empty() && !found.contains_key("wrong"));
        assert!(features_in(&json!({ "packages": [] }), PACKAGE).is_none());
    }
}
