//! `ARCHITECTURE.md` names every package, and names nothing that is not there.
//!
//! A path may start at the root, at a package or at its `src/`. What counts as naming is a code span, a link, or the
//! first word of a line in a code block.

use super::tree::Tree;
use super::{Finding, Rule};
use std::collections::BTreeSet;

pub(super) const RULE: Rule = Rule {
    name: "architecture",
    check,
};

const FILE: &str = "ARCHITECTURE.md";

/// Endings of files that can be ours; a path with another ending is somebody else's, such as a kernel source.
const ENDINGS: &[&str] = &[
    "rs", "md", "toml", "html", "css", "js", "json", "csv", "lock", "snap", "yml", "sh",
];

/// Words with a slash that are units.
const UNITS: &[&str] = &["tick/op", "ns/op", "op/s", "cycle/op"];

fn check(tree: &Tree) -> Vec<Finding> {
    let Some(file) = tree.files().iter().find(|f| f.path == FILE) else {
        let fix = "write it: every package and what it is for";
        return vec![Finding::new(FILE, 1, "missing", fix)];
    };
    let mut findings = Vec::new();
    let mut named = BTreeSet::new();
    for mention in mentions(&file.text) {
        let places = mention.places(tree);
        if places.is_empty() && mention.must_exist() {
            let what = format!("`{}` is not there", mention.path);
            let fix = "name what it has become, or remove it";
            findings.push(Finding::new(FILE, mention.line, what, fix));
        }
        named.extend(places);
    }
    for folder in tree.packages() {
        if !folder.is_empty() && !named.contains(folder) {
            let what = format!("`{folder}` is not named");
            findings.push(Finding::new(FILE, 1, what, "say what the package is for"));
        }
    }
    findings
}

/// A path the file names.
struct Mention {
    path: String,
    line: usize,
}

impl Mention {
    /// Where in the tree it leads: for each place it may start at, the path from the root if something is there.
    fn places(&self, tree: &Tree) -> Vec<String> {
        let path = self.path.trim_start_matches("./").trim_end_matches('/');
        let inside = tree.packages().iter().flat_map(|p| [p.clone(), below(p, "src")]);
        std::iter::once(String::new())
            .chain(inside)
            .map(|start| below(&start, path))
            .filter(|place| tree.exists(place))
            .collect()
    }

    /// Whether it is a path for certain, and not another word in a code span.
    fn must_exist(&self) -> bool {
        let is_plain = self.path.chars().all(|c| c.is_alphanumeric() || "._-/".contains(c));
        let last = self.path.trim_end_matches('/').rsplit('/').next().unwrap_or("");
        let is_ours = match last.rsplit_once('.') {
            Some(("", _)) | None => self.path.contains('/'),
            Some((_, ending)) => ENDINGS.contains(&ending),
        };
        is_plain && is_ours && !self.path.starts_with('/') && !UNITS.contains(&self.path.as_str())
    }
}

/// The path `inside` below `folder`, which is empty for the root.
fn below(folder: &str, inside: &str) -> String {
    if folder.is_empty() {
        inside.to_owned()
    } else {
        format!("{folder}/{inside}")
    }
}

fn mentions(text: &str) -> Vec<Mention> {
    let mut found = Vec::new();
    let mut fenced = false;
    for (line, content) in (1..).zip(text.lines()) {
        let mut words = Vec::new();
        if content.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if fenced || content.starts_with("    ") {
            words.extend(content.split_whitespace().next().map(|word| word.trim_end_matches(',')));
        } else {
            words.extend(content.split('`').skip(1).step_by(2));
            words.extend(content.split("](").skip(1).filter_map(|s| s.split([')', '#']).next()));
        }
        let paths = words.into_iter().filter(|w| !w.is_empty()).map(str::to_owned);
        found.extend(paths.map(|path| Mention { path, line }));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::tidy::testing::{check, package};

    fn with(text: &str) -> Vec<String> {
        let (library, lab) = (package("cyclewise"), package("cyclewise-lab"));
        check(
            &RULE,
            &[
                ("ARCHITECTURE.md", text),
                ("crates/cyclewise/Cargo.toml", &library),
                ("crates/cyclewise/src/arch/x86_64/tsc.rs", "//! T.\n"),
                ("crates/cyclewise/src/arch/portable/tsc.rs", "//! T.\n"),
                ("crates/cyclewise-lab/Cargo.toml", &lab),
                ("crates/cyclewise-lab/src/stats/mod.rs", "//! S.\n"),
            ],
        )
    }

    #[test]
    fn spans_blocks_and_links_name_places() {
        let good = with(
            "# How it is built\n\nUnits are `tick/op`, see `/proc/cpuinfo`, `lib/lockref.c` and [all](crates/).\n\n\
             ```\ncrates/cyclewise/   the library\n  src/arch/portable/   twins\n```\n\n\
             `crates/cyclewise-lab`, `stats` and `src/stats/mod.rs`.\n",
        );
        assert_eq!(good, [""; 0]);
    }

    #[test]
    fn a_package_left_out_and_a_path_gone_are_caught() {
        let bad = with("# How it is built\n\n`crates/cyclewise/src/arch`, `crates/cyclewise`\nand `arch/arm/`.\n");
        assert_eq!(
            bad,
            [
                "ARCHITECTURE.md:4: architecture: `arch/arm/` is not there; name what it has become, or remove it",
                "ARCHITECTURE.md:1: architecture: `crates/cyclewise-lab` is not named; say what the package is for",
            ]
        );
    }

    #[test]
    fn no_file_is_a_failure() {
        assert_eq!(check(&RULE, &[("README.md", "# A\n")]).len(), 1);
    }
}
