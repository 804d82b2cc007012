//! The packages that ours are built from: each is under a licence that both MIT and Apache-2.0 users can take, and of each there
//! is one version, but for those that a dependency forces.

use crate::cargo::metadata;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// What a package may be under; of a choice one has to be here, of a conjunction all.
const TAKEN: &[&str] = &[
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "MIT",
    "Unicode-3.0",
    "Zlib",
];

/// Tools that only tests run, under licences whose terms are met by that: nothing of them is in what users build.
const TOOLS: &[(&str, &str)] = &[("cbindgen", "MPL-2.0")];

/// Packages of which there are several versions, and who asks for the older ones.
const FORCED: &[(&str, &str)] = &[
    ("bitflags", "vmm-sys-util, by way of kvm-ioctls, has not moved to 2 yet"),
    ("getrandom", "the older rand"),
    ("miniz_oxide", "png has one of its own beside that of flate2"),
    (
        "rand",
        "metrics-util, which percpu::Histogram is measured beside, has not moved to 0.10 yet",
    ),
    ("rand_core", "the older rand"),
    ("rand_xoshiro", "the older rand"),
    ("syn", "cbindgen, in tests, has not moved to 3 yet"),
    ("toml", "cbindgen, in tests, has not moved to 1 yet"),
    ("toml_datetime", "the older toml"),
    ("winnow", "the older toml"),
];

/// The targets that the project is built for; packages for others are not in it.
const TARGETS: &[&str] = &["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"];

/// Checks the packages of the workspace at `root`, and prints those that do not pass; true where all do.
pub(crate) fn run(root: &Path) -> bool {
    let (packages, problems) = match metadata(root, TARGETS.iter().flat_map(|target| ["--filter-platform", target])) {
        Ok(metadata) => check(&metadata),
        Err(why) => (0, vec![why]),
    };
    for problem in &problems {
        println!("licences: {problem}");
    }
    let verdict = if problems.is_empty() { "passed" } else { "FAILED" };
    println!("licences: {verdict}: {packages} packages, {} failures", problems.len());
    problems.is_empty()
}

/// How many packages there are, and a line on each that does not pass.
fn check(metadata: &Value) -> (usize, Vec<String>) {
    let packages = metadata["packages"].as_array().map_or(&[][..], Vec::as_slice);
    let mut problems: Vec<_> = packages.iter().filter_map(problem).collect();
    problems.extend(doubles(packages));
    if packages.is_empty() {
        problems.push("cargo metadata names no package".to_owned());
    }
    (packages.len(), problems)
}

/// A line on each package with several versions that nobody forces, and on each that is forced no more.
fn doubles(packages: &[Value]) -> Vec<String> {
    let mut versions: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for package in packages {
        let text = |key| package[key].as_str().unwrap_or("?");
        versions.entry(text("name")).or_default().insert(text("version"));
    }
    let problem = |(name, versions): (&str, BTreeSet<&str>)| {
        let forced = FORCED.iter().any(|(forced, _)| *forced == name);
        match (versions.len(), forced) {
            (1, true) => Some(format!(
                "{name} has one version only; take it out of FORCED in xtask/src/licences.rs"
            )),
            (2.., false) => Some(format!(
                "{name} has the versions {versions:?}; depend on one, or add who forces the other to FORCED in xtask/src/licences.rs"
            )),
            _ => None,
        }
    };
    versions.into_iter().filter_map(problem).collect()
}

fn problem(package: &Value) -> Option<String> {
    let name = package["name"].as_str().unwrap_or("?");
    let Some(licence) = package["license"].as_str() else {
        return Some(format!("{name} names no licence; replace it, or read its licence file"));
    };
    if TOOLS.contains(&(name, licence)) {
        return None;
    }
    // Lax: older manifests write MIT/Apache-2.0.
    match spdx::Expression::parse_mode(licence, spdx::ParseMode::LAX) {
        Ok(expression) if expression.evaluate(|asked| is_taken(&asked.license)) => None,
        Ok(_) => Some(format!(
            "{name} is under {licence}; replace it, or add to TAKEN in xtask/src/licences.rs"
        )),
        Err(error) => Some(format!(
            "{name} is under {licence:?}, which is no SPDX expression: {}",
            error.reason
        )),
    }
}

fn is_taken(licence: &spdx::LicenseItem) -> bool {
    licence.id().is_some_and(|id| TAKEN.contains(&id.name))
}

#[cfg(test)]
mod tests {
    use super::check;
    use serde_json::json;

    fn problems_of(name: &str, licence: serde_json::Value) -> Vec<String> {
        let (packages, problems) = check(&json!({ "packages": [{ "name": name, "license": licence }] }));
        assert_eq!(packages, 1);
        problems
    }

    fn problems(licence: serde_json::Value) -> Vec<String> {
        problems_of("a", licence)
    }

    #[test]
    fn two_versions_of_one_and_a_reason_that_is_needed_no_more_are_caught() {
        let (forced, _) = super::FORCED[0];
        for (name, versions, caught) in [
            ("not-forced", &["0.9.1", "0.10.0"][..], true),
            ("not-forced", &["0.10.0"], false),
            ("not-forced", &["0.10.0", "0.10.0"], false),
            (forced, &["1.0.0", "2.0.0"], false),
            (forced, &["2.0.0"], true),
        ] {
            let package = |version| json!({ "name": name, "version": version, "license": "MIT" });
            let packages: Vec<_> = versions.iter().map(package).collect();
            assert_eq!(
                check(&json!({ "packages": packages })).1.len(),
                usize::from(caught),
                "{name} {versions:?}"
            );
        }
    }

    #[test]
    fn a_licence_that_is_taken_or_a_choice_with_one_is_fine() {
        for licence in [
            "MIT",
            "MIT/Apache-2.0",
            "GPL-2.0-only OR Zlib",
            "(MIT OR GPL-2.0-only) AND Unicode-3.0",
        ] {
            assert_eq!(problems(json!(licence)), [""; 0], "{licence}");
        }
    }

    #[test]
    fn others_and_none_are_caught() {
        for licence in ["GPL-2.0-only", "MIT AND GPL-2.0-only", "all mine"] {
            assert_eq!(problems(json!(licence)).len(), 1, "{licence}");
        }
        // A tool is let through by its name and licence, and not by either.
        let asked = [("cbindgen", "MPL-2.0"), ("cbindgen", "GPL-2.0-only"), ("a", "MPL-2.0")];
        assert_eq!(
            asked.map(|(name, licence)| problems_of(name, json!(licence)).len()),
            [0, 1, 1]
        );
        assert!(problems(serde_json::Value::Null)[0].contains("names no licence"));
        assert_eq!(check(&json!({})).1.len(), 1);
    }
}
