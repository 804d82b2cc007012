//! `Cargo.lock` has one version of each package, but for those that a dependency of ours forces, each with its reason.

use super::tree::Tree;
use super::{Finding, Rule};
use std::collections::BTreeMap;

pub(super) const RULE: Rule = Rule { name: "doubles", check };

const FILE: &str = "Cargo.lock";

/// Packages of which there are several versions, and who asks for the older ones.
const FORCED: &[(&str, &str)] = &[
    ("bitflags", "vmm-sys-util, by way of kvm-ioctls, has not moved to 2 yet"),
    ("miniz_oxide", "png has one of its own beside that of flate2"),
    (
        "syn",
        "criterion by way of zerocopy's derive, which has not moved to 3 yet",
    ),
    ("toml", "cbindgen, in tests, has not moved to 1 yet"),
    ("toml_datetime", "the older toml"),
    ("windows-link", "on Windows only: generator, which loom depends on"),
    ("winnow", "the older toml"),
];

fn check(tree: &Tree) -> Vec<Finding> {
    let Some(file) = tree.files().iter().find(|f| f.path == FILE) else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    for (name, versions) in versions(&file.text) {
        let forced = FORCED.iter().any(|(forced, _)| *forced == name);
        if versions.len() > 1 && !forced {
            let all: Vec<_> = versions.iter().map(|(_, version)| *version).collect();
            findings.push(Finding::new(
                FILE,
                versions[0].0,
                format!("{} versions of `{name}`: {}", versions.len(), all.join(", ")),
                "depend on one, or say who forces the other in FORCED in xtask/src/tidy/doubles.rs",
            ));
        }
        if versions.len() == 1 && forced {
            findings.push(Finding::new(
                FILE,
                versions[0].0,
                format!("`{name}` has one version only"),
                "take it out of FORCED in xtask/src/tidy/doubles.rs",
            ));
        }
    }
    findings
}

/// The versions of each package, each with the line of its name.
fn versions(lock: &str) -> BTreeMap<&str, Vec<(usize, &str)>> {
    let mut found: BTreeMap<_, Vec<_>> = BTreeMap::new();
    let mut package = None;
    for (number, line) in (1..).zip(lock.lines()) {
        if let Some(name) = quoted(line, "name") {
            package = Some((number, name));
        } else if let (Some((at, name)), Some(version)) = (package.take(), quoted(line, "version")) {
            found.entry(name).or_default().push((at, version));
        }
    }
    found
}

/// The value of `key = "value"`.
fn quoted<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    line.strip_prefix(key)?.strip_prefix(" = \"")?.strip_suffix('"')
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::tidy::testing::check;

    fn lock(packages: &[(&str, &str)]) -> String {
        let entry = |(name, version)| format!("[[package]]\nname = \"{name}\"\nversion = \"{version}\"\n\n");
        packages.iter().copied().map(entry).collect()
    }

    #[test]
    fn one_version_of_each_is_fine() {
        let good = lock(&[("rand", "0.10.0"), ("rand_core", "0.10.0")]);
        assert_eq!(check(&RULE, &[("Cargo.lock", &good)]), [""; 0]);
    }

    #[test]
    fn two_versions_of_one_are_caught() {
        let bad = lock(&[("rand", "0.9.1"), ("rand", "0.10.0"), ("libc", "0.2.1")]);
        assert_eq!(
            check(&RULE, &[("Cargo.lock", &bad)]),
            [
                "Cargo.lock:2: doubles: 2 versions of `rand`: 0.9.1, 0.10.0; depend on one, or say who forces the \
                 other in FORCED in xtask/src/tidy/doubles.rs"
            ]
        );
    }

    #[test]
    fn a_reason_that_is_needed_no_more_is_caught() {
        let (name, _) = super::FORCED[0];
        assert!(check(&RULE, &[("Cargo.lock", &lock(&[(name, "1.0.0")]))])[0].contains("one version only"));
    }
}
