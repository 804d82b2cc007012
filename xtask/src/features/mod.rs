//! Checks the library's features: each alone and each left out compiles without a warning, with and without `std`, and the
//! table of the crate's documentation names the packages that each one adds.

mod combinations;
mod table;

use crate::cargo::{cargo, metadata, succeeds};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The package whose features are checked.
const PACKAGE: &str = "cyclewise";
/// The file whose documentation has the table.
const TABLE: &str = "crates/cyclewise/src/lib.rs";

/// A set of features.
type Features = BTreeSet<String>;
/// Each feature, and the features that it turns on.
type Implied = BTreeMap<String, Features>;

/// Runs both checks on the workspace at `root`; true where both passed.
pub(crate) fn run(root: &Path) -> bool {
    let problems = match implied(root) {
        Ok(implied) => {
            let mut problems = table::check(root, &implied);
            problems.extend(compile_all(root, &implied));
            problems
        }
        Err(why) => vec![why],
    };
    for problem in &problems {
        println!("features: {problem}");
    }
    let verdict = if problems.is_empty() { "passed" } else { "FAILED" };
    println!("features: {verdict}: {} failures", problems.len());
    problems.is_empty()
}

fn compile_all(root: &Path, implied: &Implied) -> Vec<String> {
    let combinations = combinations::of(implied);
    println!("features: {} combinations", combinations.len());
    let failed = combinations.iter().filter(|features| !compiles(root, features));
    failed
        .map(|features| format!("{:?} has an error or a warning; it is above", joined(features)))
        .collect()
}

/// Whether the library compiles with these features and no others, without a warning of clippy's.
fn compiles(root: &Path, features: &Features) -> bool {
    let features = joined(features);
    let mut command = cargo(root);
    command.args(["clippy", "--quiet", "--locked", "--package", PACKAGE, "--lib"]);
    command.args(["--no-default-features", "--features", &features]);
    command.args(["--", "-D", "warnings"]);
    succeeds(&mut command, "features")
}

/// The features of the package, from its manifest.
fn implied(root: &Path) -> Result<Implied, String> {
    let metadata = metadata(root, ["--no-deps"])?;
    features_in(&metadata).ok_or_else(|| format!("cargo metadata names no features of {PACKAGE}"))
}

fn features_in(metadata: &Value) -> Option<Implied> {
    let packages = metadata["packages"].as_array()?;
    let package = packages.iter().find(|package| package["name"] == PACKAGE)?;
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
    use super::{features_in, joined};
    use serde_json::json;

    #[test]
    fn features_are_read_without_dependencies() {
        let metadata = json!({ "packages": [
            { "name": "other", "features": { "wrong": [] } },
            { "name": "cyclewise", "features": { "default": ["std", "refs"], "refs": ["lock", "dep:libc", "a/b"], "std": [] } },
        ] });
        let found = features_in(&metadata).unwrap();
        assert_eq!(joined(&found["refs"]), "lock");
        assert_eq!(joined(&found["default"]), "refs,std");
        assert!(found["std"].is_empty() && !found.contains_key("wrong"));
        assert!(features_in(&json!({ "packages": [] })).is_none());
    }
}
