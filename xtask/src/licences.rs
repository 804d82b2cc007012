//! The licence of every package that ours are built from is one that both MIT and Apache-2.0 users can take.

use crate::cargo::metadata;
use serde_json::Value;
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

/// How many packages there are, and a line on each whose licence is not taken.
fn check(metadata: &Value) -> (usize, Vec<String>) {
    let packages = metadata["packages"].as_array().map_or(&[][..], Vec::as_slice);
    let mut problems: Vec<_> = packages.iter().filter_map(problem).collect();
    if packages.is_empty() {
        problems.push("cargo metadata names no package".to_owned());
    }
    (packages.len(), problems)
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

    fn problems(licence: serde_json::Value) -> Vec<String> {
        let (packages, problems) = check(&json!({ "packages": [{ "name": "a", "license": licence }] }));
        assert_eq!(packages, 1);
        problems
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
        let of = |name, licence| {
            check(&json!({ "packages": [{ "name": name, "license": licence }] }))
                .1
                .len()
        };
        assert_eq!(
            [
                of("cbindgen", "MPL-2.0"),
                of("cbindgen", "GPL-2.0-only"),
                of("a", "MPL-2.0")
            ],
            [0, 1, 1]
        );
        assert!(problems(serde_json::Value::Null)[0].contains("names no licence"));
        assert_eq!(check(&json!({})).1.len(), 1);
    }
}
