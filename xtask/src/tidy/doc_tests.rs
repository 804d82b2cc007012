//! A package that turns off the tests in its docs (`doctest = false`) has none. Where there are none, rustdoc takes seconds to find that out.

use super::tree::{File, Tree};
use super::{Finding, Rule};

pub(super) const RULE: Rule = Rule {
    name: "doc-tests",
    check,
};

fn check(tree: &Tree) -> Vec<Finding> {
    let manifests = tree.files().iter().filter(|f| f.path.ends_with("/Cargo.toml"));
    let is_off = |line: &str| line.replace(' ', "").starts_with("doctest=false");
    let off = manifests.filter(|f| f.text.lines().any(is_off));
    let folders: Vec<String> = off.map(|f| f.path.replace("Cargo.toml", "src/")).collect();
    let sources = tree.files().iter().filter(|f| f.extension() == "rs");
    let unseen = sources.filter(|f| folders.iter().any(|folder| f.path.starts_with(folder)));
    unseen.flat_map(check_file).collect()
}

fn check_file(file: &File) -> impl Iterator<Item = Finding> {
    let is_example = |line: &str| {
        let doc = line.trim_start();
        (doc.starts_with("///") || doc.starts_with("//!")) && doc.contains("```")
    };
    let lines = (1..).zip(file.text.lines()).filter(move |(_, line)| is_example(line));
    lines.map(|(number, _)| {
        let fix = "remove `doctest = false` from the package's manifest";
        Finding::new(&file.path, number, "nothing compiles this block", fix)
    })
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::tidy::testing::{check, package};

    fn with(manifest: &str) -> Vec<String> {
        let manifest = package("a") + manifest;
        let source = "//! A.\n\n/// It is.\n///\n/// ```\n/// assert!(true);\n/// ```\nfn f() {}\n";
        check(
            &RULE,
            &[("crates/a/Cargo.toml", &manifest), ("crates/a/src/lib.rs", source)],
        )
    }

    #[test]
    fn a_package_whose_docs_are_tested_has_examples() {
        assert_eq!(with(""), [""; 0]);
    }

    #[test]
    fn an_example_that_nothing_compiles_is_caught() {
        let found = with("[lib]\n doctest=false # none\n");
        assert_eq!(found.len(), 2);
        assert!(
            found[0].starts_with("crates/a/src/lib.rs:5: doc-tests: nothing compiles this block"),
            "{found:?}"
        );
    }
}
