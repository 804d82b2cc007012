//! A file holds one idea: past 250 lines it is listed, past its limit it fails.

use super::tree::{File, Tree};
use super::{Finding, Rule};

pub(super) const RULE: Rule = Rule { name: "length", check };

/// Where a source file is worth a question.
const LISTED: usize = 250;

/// Where a source file fails.
const LIMIT: usize = 500;

/// Where tests, templates and tables of data fail: they are long for other reasons than holding two ideas.
const LONG_LIMIT: usize = 800;

/// What people write line by line. Records, snapshots and other files that programs write are as long as they are.
const WRITTEN: &[&str] = &["rs", "html", "css", "js", "sh"];

const FIX: &str = "split it by idea";

fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files().iter().filter(|f| WRITTEN.contains(&f.extension())) {
        let lines = file.text.lines().count();
        let long = may_be_long(file);
        let limit = if long { LONG_LIMIT } else { LIMIT };
        if lines > limit {
            findings.push(Finding::new(
                &file.path,
                limit + 1,
                format!("{lines} lines, past {limit}"),
                FIX,
            ));
        } else if lines > LISTED && !long {
            let what = format!("{lines} lines, past {LISTED}");
            findings.push(Finding::new(&file.path, LISTED + 1, what, "does it hold one idea?").into_warning());
        }
    }
    findings
}

fn may_be_long(file: &File) -> bool {
    let in_folder = |name: &str| format!("/{}", file.path).contains(&format!("/{name}/"));
    let is_named = |name: &str| format!("/{}", file.path).ends_with(&format!("/{name}.rs"));
    let folders = ["tests", "benches", "examples", "templates", "data"];
    file.extension() != "rs" || folders.iter().any(|f| in_folder(f)) || is_named("tests") || is_named("data")
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::tidy::testing::check;

    #[test]
    fn short_files_long_tests_and_written_data_are_fine() {
        let (short, long, longer) = ("//\n".repeat(250), "//\n".repeat(800), "1\n".repeat(5000));
        let good = [
            ("crates/a/src/lib.rs", short.as_str()),
            ("crates/a/tests/t.rs", &long),
            ("crates/a/templates/page.html", &long),
            ("records/a.json", &longer),
        ];
        assert_eq!(check(&RULE, &good), [""; 0]);
    }

    #[test]
    fn a_long_file_is_listed_and_a_longer_one_fails() {
        let (listed, failed, test) = ("//\n".repeat(251), "//\n".repeat(501), "//\n".repeat(801));
        let bad = [
            ("crates/a/src/a.rs", listed.as_str()),
            ("crates/a/src/b.rs", &failed),
            ("crates/a/tests/t.rs", &test),
        ];
        assert_eq!(
            check(&RULE, &bad),
            [
                "warning: crates/a/src/a.rs:251: length: 251 lines, past 250; does it hold one idea?",
                "crates/a/src/b.rs:501: length: 501 lines, past 500; split it by idea",
                "crates/a/tests/t.rs:801: length: 801 lines, past 800; split it by idea",
            ]
        );
    }
}
