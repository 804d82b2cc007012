//! A module uses what its row in the table of layers allows, so that the table says what is, and not what once was.

use super::direction::{TABLE, check_modules};
use super::layers::PACKAGES;
use super::tree::Tree;
use super::{Finding, Rule};

pub(super) const RULE: Rule = Rule {
    name: "allowance",
    check,
};

fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for manifest in tree.manifests() {
        let package = PACKAGES.iter().find(|p| manifest.package.as_deref() == Some(p.name));
        let Some(rows) = package.and_then(|p| p.modules) else {
            continue;
        };
        // What may not be used is the rule `direction`'s business.
        let used = check_modules(manifest, rows, tree, &mut Vec::new());
        for (module, allowed) in rows {
            for target in *allowed {
                if !used.contains(&((*module).to_owned(), (*target).to_owned())) {
                    findings.push(Finding::new(
                        &manifest.path,
                        1,
                        format!("`{module}` may use `{target}`, and does not"),
                        format!("take it out of its row in {TABLE}"),
                    ));
                }
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::tidy::layers::PACKAGES;
    use crate::tidy::testing::{check, package};

    /// The simulator, in which each module names what its row allows, but for one name.
    fn simulator(left_out: Option<(&str, &str)>) -> Vec<String> {
        let name = "cyclewise-sim";
        let rows = PACKAGES.iter().find(|p| p.name == name).unwrap().modules.unwrap();
        let mut files = vec![(format!("crates/{name}/Cargo.toml"), package(name))];
        for (module, allowed) in rows {
            let mut text = String::from("//! M.\n");
            for target in allowed.iter().filter(|target| left_out != Some((module, target))) {
                text += &format!("use crate::{target}::Thing;\n");
            }
            files.push((format!("crates/{name}/src/{module}.rs"), text));
        }
        let files: Vec<_> = files
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str()))
            .collect();
        check(&RULE, &files)
    }

    #[test]
    fn rows_that_are_used_are_fine() {
        assert_eq!(simulator(None), [""; 0]);
    }

    #[test]
    fn a_row_with_more_than_is_used_is_caught() {
        assert_eq!(
            simulator(Some(("engine", "outcome"))),
            [
                "crates/cyclewise-sim/Cargo.toml:1: allowance: `engine` may use `outcome`, and does not; \
                 take it out of its row in PACKAGES in xtask/src/tidy/layers.rs"
            ]
        );
    }
}
