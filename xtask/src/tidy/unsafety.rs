//! Unsafe code says at the top of its file what has to hold.
//!
//! A library's root denies `unsafe_code`, so the compiler asks each file that has some to opt in with a reason: a search for the
//! lint is the list of files to audit. This rule sees to the rest: the root denies it, and the file has a `# Safety` section in its
//! module doc, which its proofs cite.

use super::source::Source;
use super::tree::Tree;
use super::{Finding, Rule};

pub(super) const RULE: Rule = Rule { name: "unsafe", check };

fn check(tree: &Tree) -> Vec<Finding> {
    tree.package_sources().flat_map(check_file).collect()
}

fn check_file(source: &Source) -> Vec<Finding> {
    let named = |text: &str| source.names.all.iter().find(|n| n.text() == text);
    let mut findings = Vec::new();
    if source.path.ends_with("/src/lib.rs") && named("unsafe_code").is_none() {
        let fix = "add `#![deny(unsafe_code)]`, so that files opt in";
        findings.push(Finding::new(
            &source.path,
            1,
            "a library that does not deny unsafe code",
            fix,
        ));
    }
    if let Some(first) = named("unsafe")
        && !source.module_doc.iter().any(|line| line.trim() == "# Safety")
    {
        let what = "unsafe code without `# Safety` in the module doc";
        let fix = "add the section: what must hold, numbered, for the proofs to cite";
        findings.push(Finding::new(&source.path, first.line, what, fix));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::tidy::testing::{check, package};

    fn with(root: &str, file: &str) -> Vec<String> {
        let files = [
            ("crates/a/Cargo.toml", &*package("a")),
            ("crates/a/src/lib.rs", root),
            ("crates/a/src/cell.rs", file),
        ];
        check(&RULE, &files)
    }

    #[test]
    fn a_section_in_a_library_that_denies_it_is_fine() {
        let sound = "//! M.\n//!\n//! # Safety\n//! 1. Mapped.\nfn f() { unsafe {} }\n";
        assert_eq!(with("//! A.\n#![deny(unsafe_code)]\n", sound), [""; 0]);
        let safe = "//! Not unsafe.\nconst S: &str = \"unsafe\";\n";
        assert_eq!(with("//! A.\n#![forbid(unsafe_code)]\n", safe), [""; 0]);
    }

    #[test]
    fn a_bare_file_and_a_library_that_denies_nothing_are_caught() {
        let bad = with("//! A.\n", "//! M: unsafe.\n\nfn f() { unsafe {} }\n");
        let starts = [
            "crates/a/src/lib.rs:1: unsafe: a library that does not deny",
            "crates/a/src/cell.rs:3: unsafe: unsafe code without `# Safety`",
        ];
        assert!(
            bad.len() == 2 && starts.iter().all(|s| bad.iter().any(|b| b.starts_with(s))),
            "{bad:?}"
        );
    }
}
