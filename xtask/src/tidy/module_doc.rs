//! Every source file opens with its module doc: one sentence that says what it is.

use super::source::Source;
use super::tree::Tree;
use super::{Finding, Rule};

pub(super) const RULE: Rule = Rule {
    name: "module-doc",
    check,
};

fn check(tree: &Tree) -> Vec<Finding> {
    let missing = tree
        .package_sources()
        .filter(|s| s.module_doc.first().is_none_or(|line| line.trim().is_empty()));
    let fix = "start the file with `//! ` and one sentence that says what it is";
    let finding = |s: &Source| Finding::new(&s.path, 1, "no module doc on the first line", fix);
    missing.map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::tidy::testing::{check, package};

    #[test]
    fn a_file_that_opens_with_its_doc_is_fine() {
        let manifest = package("a");
        let good = [
            ("crates/a/Cargo.toml", manifest.as_str()),
            ("crates/a/src/lib.rs", "//! What it is.\n"),
            ("crates/a/tests/t.rs", "fn beside_src() {}\n"),
        ];
        assert_eq!(check(&RULE, &good), [""; 0]);
    }

    #[test]
    fn a_file_without_one_is_caught() {
        let manifest = package("a");
        let bad = [
            ("crates/a/Cargo.toml", manifest.as_str()),
            ("crates/a/src/late.rs", "#![no_std]\n//! What it is.\n"),
            ("crates/a/src/empty.rs", "//!\n//! What it is.\n"),
        ];
        let what = "no module doc on the first line; start the file with `//! ` and one sentence that says what it is";
        assert_eq!(
            check(&RULE, &bad),
            [
                format!("crates/a/src/empty.rs:1: module-doc: {what}"),
                format!("crates/a/src/late.rs:1: module-doc: {what}"),
            ]
        );
    }
}
