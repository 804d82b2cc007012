//! `CHANGELOG.md` has the form of Keep a Changelog: what is unreleased first, then releases with their dates, newest first.
//!
//! # References
//! <https://keepachangelog.com/en/1.1.0/>

use super::tree::Tree;
use super::{Finding, Rule};

pub(super) const RULE: Rule = Rule {
    name: "changelog",
    check,
};

const FILE: &str = "CHANGELOG.md";
const UNRELEASED: &str = "[Unreleased]";
/// The kinds of changes; each is at most once in a release.
const KINDS: [&str; 6] = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"];

fn check(tree: &Tree) -> Vec<Finding> {
    let Some(file) = tree.files().iter().find(|f| f.path == FILE) else {
        return vec![Finding::new(FILE, 1, "missing", "write it, for users")];
    };
    let mut findings = Vec::new();
    let mut found = |line, what: String, fix: String| findings.push(Finding::new(FILE, line, what, fix));
    let (mut releases, mut kinds) = (Vec::<(Vec<u64>, &str)>::new(), Vec::new());
    let mut sections = 0;
    for (number, line) in (1..).zip(file.text.lines()) {
        if let Some(heading) = line.strip_prefix("## ") {
            kinds.clear();
            sections += 1;
            match release(heading) {
                _ if sections == 1 && heading == UNRELEASED => {}
                None => found(
                    number,
                    format!("`{heading}` is no release"),
                    format!("write {UNRELEASED} for the first, and [1.2.3] - 2026-01-31 for others"),
                ),
                Some(_) if sections == 1 => {
                    found(
                        number,
                        format!("no {UNRELEASED}"),
                        "put it above the newest release".to_owned(),
                    );
                }
                Some(this) => {
                    if releases.last().is_some_and(|last| last.0 <= this.0 || last.1 < this.1) {
                        found(
                            number,
                            format!("`{heading}` is not older"),
                            "put the newest first".to_owned(),
                        );
                    }
                    releases.push(this);
                }
            }
        } else if let Some(kind) = line.strip_prefix("### ") {
            if !KINDS.contains(&kind) || kinds.contains(&kind) || sections == 0 {
                found(
                    number,
                    format!("`{kind}` is not a kind of change, or is there twice"),
                    format!("use each of {} once a release", KINDS.join(", ")),
                );
            }
            kinds.push(kind);
        } else if line.starts_with("- ") && kinds.is_empty() {
            found(
                number,
                "an entry under no kind of change".to_owned(),
                format!("put it below one of {}", KINDS.join(", ")),
            );
        }
    }
    if sections == 0 {
        found(1, format!("no {UNRELEASED}"), format!("begin with ## {UNRELEASED}"));
    }
    findings
}

/// The numbers and the date of `[1.2.3] - 2026-01-31`.
fn release(heading: &str) -> Option<(Vec<u64>, &str)> {
    let (version, date) = heading.strip_prefix('[')?.split_once("] - ")?;
    let numbers: Option<Vec<u64>> = version.split('.').map(|part| part.parse().ok()).collect();
    let digits = |c: char| c.is_ascii_digit();
    let parts: Vec<_> = date.split('-').collect();
    let dated = parts.iter().map(|part| part.len()).eq([4, 2, 2]) && parts.iter().all(|part| part.chars().all(digits));
    numbers
        .filter(|numbers| numbers.len() == 3 && dated)
        .map(|numbers| (numbers, date))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::tidy::testing::check;

    const GOOD: &str = "\
# Changelog

## [Unreleased]

### Added
- This.

## [0.2.0] - 2026-11-23
### Changed
- That.
### Security
- And that.

## [0.1.0] - 2026-10-01
### Added
- All.
";

    fn findings(text: &str) -> Vec<String> {
        check(&RULE, &[("CHANGELOG.md", text)])
    }

    #[test]
    fn a_changelog_of_the_format_is_fine() {
        assert_eq!(findings(GOOD), [""; 0]);
        assert_eq!(findings("## [Unreleased]\n"), [""; 0]);
    }

    #[test]
    fn what_differs_is_caught_at_its_line() {
        for (from, to, line) in [
            ("[Unreleased]", "Unreleased", 3),
            ("[0.2.0] - 2026-11-23", "[0.2.0]", 8),
            ("[0.2.0] - 2026-11-23", "0.2.0 - 2026-11-23", 8),
            ("[0.2.0] - 2026-11-23", "[0.2.0] - 23.11.2026", 8),
            ("[0.2.0]", "[0.1.0]", 14),
            ("2026-11-23", "2026-09-30", 14),
            ("Changed", "Improved", 9),
            ("Security", "Changed", 11),
            ("### Changed\n", "", 9),
        ] {
            let found = findings(&GOOD.replacen(from, to, 1));
            assert_eq!(found.len(), 1, "{from} {to}: {found:?}");
            assert!(
                found[0].starts_with(&format!("CHANGELOG.md:{line}: changelog: ")),
                "{found:?}"
            );
        }
        assert_eq!(findings("# Changelog\n").len(), 1);
        assert_eq!(check(&RULE, &[("README.md", "")]).len(), 1);
    }
}
