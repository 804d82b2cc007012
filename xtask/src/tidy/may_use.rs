//! The "may use" columns of `ARCHITECTURE.md` say what [`PACKAGES`] says, so that there is one table.
//!
//! What counts is each table under a heading that names a package, with "may use" as its last heading: the first code
//! span of a row is a module, those of its last cell are what it may use. `error` is left out on both sides, since it is
//! the bottom of every package. A module without a row in the document may use no other.

use super::layers::{PACKAGES, Package};
use super::tree::Tree;
use super::{Finding, Rule};
use std::collections::BTreeSet;

pub(super) const RULE: Rule = Rule { name: "may-use", check };

const FILE: &str = "ARCHITECTURE.md";

/// Below every module of its package, and in no column.
const BOTTOM: &str = "error";

fn check(tree: &Tree) -> Vec<Finding> {
    let Some(file) = tree.files().iter().find(|f| f.path == FILE) else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    for package in PACKAGES.iter().filter(|p| has_section(&file.text, p)) {
        check_package(package, &rows(&file.text, package), &mut findings);
    }
    findings
}

fn check_package(package: &Package, documented: &[DocumentRow], findings: &mut Vec<Finding>) {
    let modules = package.modules.unwrap_or_default();
    for &(module, allowed) in modules {
        let allowed: BTreeSet<&str> = allowed.iter().copied().filter(|m| *m != BOTTOM).collect();
        let row = documented.iter().find(|row| row.module == module);
        let said = row.map(|row| row.uses.clone()).unwrap_or_default();
        if said != allowed {
            findings.push(Finding::new(
                FILE,
                row.map_or(1, |row| row.line),
                format!("`{module}` of {} may use {}", package.name, list(&allowed)),
                "write that in its row, or change PACKAGES in xtask/src/tidy/layers.rs",
            ));
        }
    }
}

/// A row of a table in the document.
struct DocumentRow<'a> {
    module: &'a str,
    line: usize,
    uses: BTreeSet<&'a str>,
}

/// The rows of the package's tables.
fn rows<'a>(text: &'a str, package: &Package) -> Vec<DocumentRow<'a>> {
    let mut rows = Vec::new();
    let (mut in_section, mut in_table) = (false, false);
    for (line, content) in (1..).zip(text.lines()) {
        if content.starts_with('#') {
            in_section = names(content, package);
        }
        let cells: Option<Vec<&str>> = content
            .strip_prefix('|')
            .map(|row| row.trim_end_matches('|').split('|').collect());
        let Some((first, last)) = cells.as_ref().and_then(|cells| Some((cells.first()?, cells.last()?))) else {
            in_table = false;
            continue;
        };
        if last.trim() == "may use" {
            in_table = true;
        } else if in_section
            && in_table
            && let Some(module) = spans(first).next()
        {
            let uses = spans(last).filter(|m| *m != BOTTOM).collect();
            rows.push(DocumentRow { module, line, uses });
        }
    }
    rows
}

fn has_section(text: &str, package: &Package) -> bool {
    text.lines().any(|line| line.starts_with('#') && names(line, package))
}

/// Whether the heading names the package, by its name or its folder.
fn names(heading: &str, package: &Package) -> bool {
    heading
        .split(|c: char| !c.is_alphanumeric() && c != '-')
        .any(|word| word == package.name)
}

fn spans(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

fn list(modules: &BTreeSet<&str>) -> String {
    if modules.is_empty() {
        return "nothing".to_owned();
    }
    let spans: Vec<_> = modules.iter().map(|m| format!("`{m}`")).collect();
    spans.join(", ")
}

#[cfg(test)]
mod tests {
    use super::{DocumentRow, PACKAGES, RULE, list, rows};
    use crate::tidy::testing::check;

    /// A document that says of every package but one row what the table says.
    fn document(change: impl Fn(&str, String) -> String) -> String {
        let mut text = String::from("# Map\n");
        for package in PACKAGES {
            text += &format!(
                "\n## crates/{}\n\n| room | what it is | may use |\n|---|---|---|\n",
                package.name
            );
            for (module, allowed) in package.modules.unwrap_or_default() {
                let uses = list(&allowed.iter().copied().collect());
                text += &format!("| `{module}` | it is `code` | {} |\n", change(module, uses));
            }
        }
        text
    }

    #[test]
    fn the_tables_own_words_are_fine() {
        let same = document(|_, uses| uses);
        assert_eq!(check(&RULE, &[("ARCHITECTURE.md", &same)]), [""; 0]);
        let library = rows(&same, &PACKAGES[0]);
        let is_lock = |row: &&DocumentRow| row.module == "lock";
        assert!(library.iter().find(is_lock).unwrap().uses.contains("sys"));
    }

    #[test]
    fn a_row_that_says_less_or_more_is_caught() {
        let less = document(|module, uses| if module == "lock" { "nothing".to_owned() } else { uses });
        let found = check(&RULE, &[("ARCHITECTURE.md", &less)]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].contains("may-use: `lock` of cyclewise may use `atomic`"),
            "{found:?}"
        );
        let more = document(|module, uses| if module == "arch" { "`sys`".to_owned() } else { uses });
        assert!(check(&RULE, &[("ARCHITECTURE.md", &more)])[0].contains("may use nothing"));
    }
}
