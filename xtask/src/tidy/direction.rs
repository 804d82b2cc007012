//! Dependencies point one way, between the modules of a package and between the packages of this tree.
//!
//! [`PACKAGES`] is the whole of it: a module may name the modules in its row and itself. What only tests have may name
//! any module. A name that the package's root re-exports counts as the module it comes from.

use super::layers::{ModuleRule, PACKAGES, Package};
use super::manifest::Manifest;
use super::names::Name;
use super::source::Source;
use super::tree::Tree;
use super::{Finding, Rule};
use std::collections::{BTreeMap, BTreeSet};

pub(super) const RULE: Rule = Rule {
    name: "direction",
    check,
};

/// Where the table is, for the findings.
pub(super) const TABLE: &str = "PACKAGES in xtask/src/tidy/layers.rs";

fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for manifest in tree.manifests() {
        let Some(name) = &manifest.package else { continue };
        match PACKAGES.iter().find(|p| p.name == name) {
            Some(package) => {
                check_packages(manifest, package, tree, &mut findings);
                if let Some(rows) = package.modules {
                    let _edges = check_modules(manifest, rows, tree, &mut findings);
                }
            }
            None => findings.push(Finding::new(
                &manifest.path,
                1,
                format!("`{name}` has no place among the packages"),
                format!("give it one in {TABLE}"),
            )),
        }
    }
    findings
}

/// The packages of this tree that a manifest names.
fn check_packages(manifest: &Manifest, package: &Package, tree: &Tree, findings: &mut Vec<Finding>) {
    let ours = |name: &str| tree.manifests().iter().any(|m| m.package.as_deref() == Some(name));
    for dependency in &manifest.dependencies {
        let name = dependency.name.as_str();
        if (dependency.path.is_some() || ours(name)) && !package.ours.contains(&name) {
            findings.push(Finding::new(
                &manifest.path,
                dependency.line,
                format!("`{}` may not depend on `{name}`", package.name),
                format!("move what it needs, or change {TABLE}"),
            ));
        }
    }
}

/// A module, and one that it names.
pub(super) type Edge = (String, String);

/// The modules that a package's files name; those that they may not are findings.
pub(super) fn check_modules(
    manifest: &Manifest,
    rows: &[ModuleRule],
    tree: &Tree,
    findings: &mut Vec<Finding>,
) -> BTreeSet<Edge> {
    let files = || {
        tree.sources()
            .iter()
            .filter(|s| s.place().is_some_and(|(folder, _)| folder == manifest.folder()))
    };
    let crate_name = manifest.package.as_deref().unwrap_or("").replace('-', "_");
    let modules: Vec<String> = files().filter_map(|s| s.module().into_iter().next()).collect();
    let aliases = files()
        .find(|s| s.module().is_empty())
        .map(re_exports)
        .unwrap_or_default();
    let mut used = BTreeSet::new();

    for source in files() {
        let own = source.module();
        // The root may name everything: it declares the modules and re-exports from them.
        let Some(module) = own.first() else { continue };
        let Some((_, allowed)) = rows.iter().find(|(name, _)| name == module) else {
            findings.push(Finding::new(
                &source.path,
                1,
                format!("the module `{module}` has no row"),
                format!("say what it may use in {TABLE}"),
            ));
            continue;
        };
        for name in source.names.all.iter().filter(|n| !n.in_test) {
            let Some(target) = top_module(name, &own, &crate_name) else {
                continue;
            };
            let target = aliases.get(&target).unwrap_or(&target);
            used.insert((module.clone(), target.clone()));
            if modules.contains(target) && target != module && !allowed.contains(&target.as_str()) {
                findings.push(Finding::new(
                    &source.path,
                    name.line,
                    format!("`{module}` may not use `{target}`, and names `{}`", name.text()),
                    format!("pass in what it needs, move it to a module both may use, or change {TABLE}"),
                ));
            }
        }
    }
    used
}

/// The module at the package's root that a path leads to; none for a path that stays below or leaves the package.
fn top_module(name: &Name, own: &[String], crate_name: &str) -> Option<String> {
    let mut at: Vec<&str> = own.iter().chain(&name.inside).map(String::as_str).collect();
    let first = name.first();
    if first == "crate" || first == crate_name {
        at.clear();
    } else if !matches!(first, "super" | "self") {
        return None;
    } else if first == "super" {
        at.pop();
    }
    for segment in &name.segments[1..] {
        if segment == "super" {
            at.pop();
        } else {
            at.push(segment);
            break;
        }
    }
    at.first().map(|s| (*s).to_owned())
}

/// The names the package's root re-exports, each with the module it comes from.
fn re_exports(root: &Source) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for name in root.names.all.iter().filter(|n| n.segments.len() > 1) {
        let module = name.segments.iter().find(|s| !matches!(s.as_str(), "crate" | "self"));
        if let (Some(binding), Some(module)) = (&name.binding, module)
            && binding != module
        {
            found.insert(binding.clone(), module.clone());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::tidy::testing::{check, package};

    /// A lab with these files beside an `error`, `record`, `runner` and `stats`.
    fn lab(files: &[(&str, &str)]) -> Vec<String> {
        let manifest = package("cyclewise-lab");
        let mut all = vec![
            ("crates/cyclewise-lab/Cargo.toml", manifest.as_str()),
            ("crates/cyclewise-lab/src/error.rs", "//! E.\n"),
            ("crates/cyclewise-lab/src/record/mod.rs", "//! R.\n"),
            (
                "crates/cyclewise-lab/src/runner/mod.rs",
                "//! R.\nuse crate::{record::Record, stats};\n",
            ),
        ];
        all.extend(files);
        check(&RULE, &all)
    }

    #[test]
    fn the_way_the_table_points_is_fine() {
        let good = lab(&[
            (
                "crates/cyclewise-lab/src/stats/mod.rs",
                "//! S: crate::runner.\nuse super::record;\nuse self::mean as runner;\n\
                 #[cfg(test)]\nmod tests {\n    use super::mean;\n    use crate::runner::Sample;\n}\n",
            ),
            (
                "crates/cyclewise-lab/src/stats/mean.rs",
                "//! M.\nuse super::super::record::Verdict;\n",
            ),
            ("crates/cyclewise-lab/src/lib.rs", "//! L.\npub use runner::Sample;\n"),
        ]);
        assert_eq!(good, [""; 0]);
    }

    #[test]
    fn the_other_way_is_caught_however_it_is_written() {
        let bad = lab(&[
            (
                "crates/cyclewise-lab/src/stats/mod.rs",
                "//! S.\nuse crate::{record, runner};\nuse super::runner::Sample;\nfn f() { $crate::runner::g() }\n\
                 use crate::Guards;\nuse cyclewise_lab::runner;\n",
            ),
            (
                "crates/cyclewise-lab/src/stats/mean.rs",
                "//! M.\nmod m {\n    use super::super::super::error;\n}\n",
            ),
            (
                "crates/cyclewise-lab/src/lib.rs",
                "//! L.\npub use runner::Control as Guards;\n",
            ),
        ]);
        let fix = "pass in what it needs, move it to a module both may use, \
                   or change PACKAGES in xtask/src/tidy/layers.rs";
        let expected = [
            ("mean.rs:3", "error", "super::super::super::error"),
            ("mod.rs:2", "runner", "crate::runner"),
            ("mod.rs:3", "runner", "super::runner::Sample"),
            ("mod.rs:4", "runner", "crate::runner::g"),
            ("mod.rs:5", "runner", "crate::Guards"),
            ("mod.rs:6", "runner", "cyclewise_lab::runner"),
        ]
        .map(|(place, module, path)| {
            format!(
                "crates/cyclewise-lab/src/stats/{place}: direction: \
                 `stats` may not use `{module}`, and names `{path}`; {fix}"
            )
        });
        assert_eq!(bad, expected);
    }

    #[test]
    fn a_module_without_a_row_is_caught() {
        let bad = lab(&[("crates/cyclewise-lab/src/util.rs", "//! U.\n")]);
        assert_eq!(
            bad,
            [
                "crates/cyclewise-lab/src/util.rs:1: direction: the module `util` has no row; \
              say what it may use in PACKAGES in xtask/src/tidy/layers.rs"
            ]
        );
    }

    #[test]
    fn packages_point_one_way_too() {
        let library =
            "[package]\nname = \"cyclewise\"\n[dependencies]\n# Wrong.\nlab = { path = \"../cyclewise-lab\" }\n";
        let bad = check(
            &RULE,
            &[
                ("crates/cyclewise/Cargo.toml", library),
                ("crates/new/Cargo.toml", &package("new")),
            ],
        );
        assert_eq!(
            bad,
            [
                "crates/cyclewise/Cargo.toml:5: direction: `cyclewise` may not depend on `lab`; \
                 move what it needs, or change PACKAGES in xtask/src/tidy/layers.rs",
                "crates/new/Cargo.toml:1: direction: `new` has no place among the packages; \
                 give it one in PACKAGES in xtask/src/tidy/layers.rs",
            ]
        );
        let fine = "[package]\nname = \"cyclewise-lab\"\n[dependencies]\ncyclewise = { path = \"../cyclewise\" }\n";
        assert_eq!(check(&RULE, &[("crates/cyclewise-lab/Cargo.toml", fine)]), [""; 0]);
    }
}
