//! The table of features in the crate's documentation: a row for each, with the packages that it adds.
//!
//! A row is "| \`name\` | what it turns on | \`package\`, \`package\` |", and a dash stands for none. Packages are those of
//! `cargo tree --edges normal`, without ours.

use super::{Implied, PACKAGE, TABLE};
use crate::cargo::{cargo, output};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The first line of the table.
const HEAD: &str = "//! | feature |";

pub(super) type Packages = BTreeSet<String>;

/// A line on each row that is missing, names no feature, or has other packages than cargo says.
pub(super) fn check(root: &Path, implied: &Implied) -> Vec<String> {
    let text = match std::fs::read_to_string(root.join(TABLE)) {
        Ok(text) => text,
        Err(error) => return vec![format!("{TABLE}: {error}")],
    };
    let mut trees = BTreeMap::new();
    for feature in implied.keys().filter(|name| *name != "default") {
        match tree(root, PACKAGE, feature) {
            Ok(packages) => trees.insert(feature.clone(), packages),
            Err(why) => return vec![why],
        };
    }
    compare(&rows(&text), &trees)
}

fn compare(rows: &BTreeMap<String, Packages>, trees: &BTreeMap<String, Packages>) -> Vec<String> {
    let mut problems = Vec::new();
    for (feature, packages) in trees {
        let expected = row_of(packages);
        match rows.get(feature) {
            None => problems.push(format!("{TABLE}: `{feature}` has no row; its packages are {expected}")),
            Some(row) if row != packages => problems.push(format!(
                "{TABLE}: the row of `{feature}` has the packages {}; cargo tree has {expected}",
                row_of(row)
            )),
            Some(_) => {}
        }
    }
    let unknown = rows.keys().filter(|name| !trees.contains_key(*name));
    problems.extend(unknown.map(|name| format!("{TABLE}: the row `{name}` names no feature")));
    problems
}

/// The packages in a row: the cell as it is written.
fn row_of(packages: &Packages) -> String {
    if packages.is_empty() {
        return "–".to_owned();
    }
    let quoted: Vec<_> = packages.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

/// The rows below the table's head.
fn rows(text: &str) -> BTreeMap<String, Packages> {
    let lines = text.lines().skip_while(|line| !line.starts_with(HEAD)).skip(2);
    let rows = lines.map_while(|line| line.strip_prefix("//! |"));
    rows.filter_map(|row| {
        let mut cells = row.split('|').map(str::trim);
        let feature = quoted(cells.next()?).next()?;
        Some((feature, quoted(cells.nth(1)?).collect()))
    })
    .collect()
}

/// What stands between backquotes.
fn quoted(cell: &str) -> impl Iterator<Item = String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned)
}

/// The packages that this one is built from with this feature alone.
pub(super) fn tree(root: &Path, package: &str, feature: &str) -> Result<Packages, String> {
    let mut command = cargo(root);
    command.args(["tree", "--locked", "--package", package]);
    command.args(["--no-default-features", "--features", feature]);
    command.args(["--edges", "normal", "--prefix", "none", "--format", "{p}"]);
    Ok(packages(&String::from_utf8_lossy(&output(&mut command)?)))
}

fn packages(tree: &str) -> Packages {
    let names = tree.lines().filter_map(|line| line.split(' ').next());
    names
        .filter(|name| !name.is_empty() && *name != PACKAGE)
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "//! # Features\n//! | feature | turns on | packages |\n//! |---|---|---|\n\
        //! | `clock` | [`clock`] | `libc` |\n//! | `lock` | locks | `libc`, `lock_api`, `scopeguard` |\n//! | `std` | more | – |\n//!\n//! | `no` | x | y |\n";

    fn trees() -> BTreeMap<String, Packages> {
        let of = |tree| packages(&format!("cyclewise v0.1.0 (/somewhere)\n{tree}"));
        let lock = "libc v0.2.1\nlock_api v0.4.1\nscopeguard v1.2.0\nscopeguard v1.2.0 (*)\n";
        let trees = [("clock", "libc v0.2.1\n"), ("lock", lock), ("std", "")];
        trees.map(|(feature, tree)| (feature.to_owned(), of(tree))).into()
    }

    #[test]
    fn rows_as_cargo_says_are_fine() {
        assert_eq!(compare(&rows(TEXT), &trees()), [""; 0]);
    }

    #[test]
    fn a_package_that_is_not_named_is_caught() {
        let text = TEXT.replace(", `scopeguard`", "");
        let problem = "crates/cyclewise/src/lib.rs: the row of `lock` has the packages `libc`, `lock_api`; \
                       cargo tree has `libc`, `lock_api`, `scopeguard`";
        assert_eq!(compare(&rows(&text), &trees()), [problem]);
    }

    #[test]
    fn missing_and_unknown_rows_are_caught() {
        let text = TEXT.replace("`std`", "`mutex`");
        let problems = compare(&rows(&text), &trees());
        assert_eq!(
            problems,
            [
                "crates/cyclewise/src/lib.rs: `std` has no row; its packages are –",
                "crates/cyclewise/src/lib.rs: the row `mutex` names no feature",
            ]
        );
    }
}
