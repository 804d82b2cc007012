//! `SOUNDNESS.md` names tests that exist: a promise whose test was renamed or removed is noticed.
//!
//! What counts is each code span in the last cell of a table whose last heading begins with "tests".

use super::tree::Tree;
use super::{Finding, Rule};
use std::collections::BTreeSet;

pub(super) const RULE: Rule = Rule {
    name: "soundness",
    check,
};

const FILE: &str = "SOUNDNESS.md";

fn check(tree: &Tree) -> Vec<Finding> {
    let Some(file) = tree.files().iter().find(|f| f.path == FILE) else {
        return Vec::new();
    };
    let mut named = Vec::new();
    let mut of_tests = false;
    for (line, text) in file.text.lines().enumerate() {
        let Some(last) = last_cell(text) else {
            of_tests = false;
            continue;
        };
        if last.trim_start().starts_with("tests") {
            of_tests = true;
        } else if of_tests {
            let spans = last.split('`').skip(1).step_by(2);
            named.extend(spans.map(|name| (line + 1, name)));
        }
    }
    let there: BTreeSet<&str> = tree
        .files()
        .iter()
        .filter(|f| f.extension() == "rs" || f.path.starts_with(".ci/"))
        .flat_map(|f| f.text.split(|c: char| !(c.is_alphanumeric() || c == '_')))
        .collect();
    let missing = named
        .into_iter()
        .filter(|(_, name)| !name.starts_with('.') && !there.contains(name));
    let fix = "name the test that checks this, or say that none does";
    let finding = |(line, name)| Finding::new(FILE, line, format!("no test is called `{name}`"), fix);
    missing.map(finding).collect()
}

/// The last cell of a row of a table.
fn last_cell(line: &str) -> Option<&str> {
    line.strip_prefix('|')?.trim_end().strip_suffix('|')?.rsplit('|').next()
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::tidy::testing::check;

    const TEST: (&str, &str) = (
        "crates/a/tests/t.rs",
        "//! T.\n#[test]\nfn it_holds() {}\n// twin_of_it\n",
    );

    #[test]
    fn names_of_tests_are_fine() {
        let paper = "| class | tests, twins |\n|---|---|\n| any `thing` | `it_holds`; `twin_of_it` |\n\n| other | what |\n|---|---|\n| a | `not_a_test` |\n";
        assert_eq!(check(&RULE, &[("SOUNDNESS.md", paper), TEST]), [""; 0]);
        assert_eq!(check(&RULE, &[TEST]), [""; 0]);
    }

    #[test]
    fn a_test_that_is_not_there_is_caught() {
        let paper = "| class | tests |\n|---|---|\n| any | `it_holds`, `it_is_gone` |\n";
        assert_eq!(
            check(&RULE, &[("SOUNDNESS.md", paper), TEST]),
            [
                "SOUNDNESS.md:3: soundness: no test is called `it_is_gone`; name the test that checks this, or say that none does"
            ]
        );
    }
}
