//! `ARCHITECTURE.md` names every folder of every `src/`, and names nothing that is not there.
//!
//! Within a section whose heading names a package, a path may start at the package or at its `src/`: `arch/x86_64`
//! under `## cyclewise` is `crates/cyclewise/src/arch/x86_64`. Elsewhere it starts at the root, or in any package. What
//! counts as naming is a code span, a link, or the first word of a line in a code block.

use super::manifest::Manifest;
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
        return vec![Finding::new(
            FILE,
            1,
            "missing",
            "write it: every folder and what it is for",
        )];
    };
    let mut findings = Vec::new();
    let mut named = BTreeSet::new();
    for mention in mentions(&file.text, tree) {
        let places = mention.places(tree);
        if places.is_empty() && mention.must_exist() {
            findings.push(Finding::new(
                FILE,
                mention.line,
                format!("`{}` is not there", mention.path),
                "name what it has become, or remove it",
            ));
        }
        named.extend(places);
    }
    for folder in source_folders(tree).difference(&named) {
        findings.push(Finding::new(
            FILE,
            1,
            format!("`{folder}` is not named"),
            "say in its package's section what the folder is for",
        ));
    }
    findings
}

/// Every folder below the `src/` of a package.
fn source_folders(tree: &Tree) -> BTreeSet<String> {
    let mut folders = BTreeSet::new();
    for source in tree.package_sources() {
        let Some((package, inside)) = source.place() else {
            continue;
        };
        for (end, _) in inside.match_indices('/') {
            folders.insert(below(package, &format!("src/{}", &inside[..end])));
        }
    }
    folders
}

/// A path the file names.
struct Mention<'a> {
    path: String,
    line: usize,
    /// The package whose section it is in.
    package: Option<&'a Manifest>,
}

impl Mention<'_> {
    /// Where in the tree it leads: for each place it may start at, the path from the root if something is there.
    fn places(&self, tree: &Tree) -> Vec<String> {
        let path = self.path.trim_start_matches("./").trim_end_matches('/');
        let mut starts = vec![String::new()];
        for manifest in tree.manifests().iter().filter(|m| m.package.is_some()) {
            if self.package.is_none_or(|p| p.path == manifest.path) {
                starts.push(manifest.folder().to_owned());
                starts.push(below(manifest.folder(), "src"));
            }
        }
        let mut places: Vec<_> = starts
            .iter()
            .map(|s| below(s, path))
            .filter(|p| tree.exists(p))
            .collect();
        // Outside a package's section, `arch` could be any package's, so it names none of them.
        if self.package.is_none() && places.first().is_none_or(|p| p != path) && !places.is_empty() {
            places = vec![path.to_owned()];
        }
        places
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

fn mentions<'a>(text: &str, tree: &'a Tree) -> Vec<Mention<'a>> {
    let mut found = Vec::new();
    // The depth of the heading that named a package, and the package.
    let mut section: Option<(usize, &Manifest)> = None;
    let mut fenced = false;
    for (number, line) in (1..).zip(text.lines()) {
        let mut words = Vec::new();
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if fenced || line.starts_with("    ") {
            words.extend(line.split_whitespace().next());
        } else {
            if line.starts_with('#') {
                let depth = line.chars().take_while(|c| *c == '#').count();
                if let Some(manifest) = package_in(line, tree) {
                    section = Some((depth, manifest));
                } else if section.is_some_and(|(outer, _)| depth <= outer) {
                    section = None;
                }
            }
            words.extend(line.split('`').skip(1).step_by(2));
            words.extend(line.split("](").skip(1).filter_map(|s| s.split([')', '#']).next()));
        }
        let paths = words.iter().filter(|w| !w.is_empty()).flat_map(|w| expand(w));
        found.extend(paths.map(|path| Mention {
            path,
            line: number,
            package: section.map(|(_, manifest)| manifest),
        }));
    }
    found
}

/// The package a heading names: the longest name, because one package's name may begin another's.
fn package_in<'a>(heading: &str, tree: &'a Tree) -> Option<&'a Manifest> {
    let words: Vec<_> = heading
        .split(|c: char| !c.is_alphanumeric() && !matches!(c, '-' | '_'))
        .collect();
    tree.manifests()
        .iter()
        .filter(|m| m.package.as_deref().is_some_and(|name| words.contains(&name)))
        .max_by_key(|m| m.package.as_ref().map(String::len))
}

/// `a/{b,c}/d` as `a/b/d` and `a/c/d`.
fn expand(word: &str) -> Vec<String> {
    let Some((before, rest)) = word.split_once('{') else {
        return vec![word.to_owned()];
    };
    let Some((choices, after)) = rest.split_once('}') else {
        return vec![word.to_owned()];
    };
    let whole = choices.split(',').map(|choice| format!("{before}{choice}{after}"));
    whole.flat_map(|w| expand(&w)).collect()
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
    fn spans_blocks_and_links_name_folders() {
        let good = with(
            "# How it is built\n\nUnits are `tick/op`, see `/proc/cpuinfo`, `lib/lockref.c` and [all](crates/).\n\n\
             ## `cyclewise`\n\n```\narch/   asm\n  src/arch/{x86_64,portable}/   twins\n```\n\n\
             ## The lab: `cyclewise-lab`\n\n### Figures\n\n`stats` and `src/stats/mod.rs`.\n",
        );
        assert_eq!(good, [""; 0]);
    }

    #[test]
    fn a_folder_left_out_and_a_path_gone_are_caught() {
        let bad = with(
            "# How it is built\n\n`crates/cyclewise/src/arch`, `stats`\n\n## cyclewise\n\n`arch/x86_64/tsc.rs`\n\
             and `arch/arm/`.\n\n## cyclewise-lab\n\n`arch/portable/`\n",
        );
        let gone = "name what it has become, or remove it";
        let unnamed = "say in its package's section what the folder is for";
        assert_eq!(
            bad,
            [
                format!("ARCHITECTURE.md:8: architecture: `arch/arm/` is not there; {gone}"),
                format!("ARCHITECTURE.md:12: architecture: `arch/portable/` is not there; {gone}"),
                format!("ARCHITECTURE.md:1: architecture: `crates/cyclewise-lab/src/stats` is not named; {unnamed}"),
                format!(
                    "ARCHITECTURE.md:1: architecture: `crates/cyclewise/src/arch/portable` is not named; {unnamed}"
                ),
                format!("ARCHITECTURE.md:1: architecture: `crates/cyclewise/src/arch/x86_64` is not named; {unnamed}"),
            ]
        );
    }

    #[test]
    fn no_file_is_a_failure() {
        let bad = check(&RULE, &[("README.md", "# A\n")]);
        assert_eq!(
            bad,
            ["ARCHITECTURE.md:1: architecture: missing; write it: every folder and what it is for"]
        );
    }
}
