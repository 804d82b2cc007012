//! Every dependency has its reason in a comment above it, or above the unbroken group of lines it is in.
//!
//! Manifests are read line by line: a TOML parser drops comments.

use super::tree::Tree;
use super::{Finding, Rule};

pub(super) const RULE: Rule = Rule { name: "reasons", check };

fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files().iter().filter(|f| f.path.ends_with("Cargo.toml")) {
        for (line, name) in bare(&file.text) {
            findings.push(Finding::new(
                &file.path,
                line,
                format!("`{name}` has no reason"),
                "say above it what it does for this package, or remove it",
            ));
        }
    }
    findings
}

/// The dependencies without a reason, each with its line.
fn bare(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    // Whether keys are dependencies, whether a comment stands above, and how many brackets of a value are open.
    let (mut in_table, mut commented, mut open) = (false, false, 0);
    for (number, line) in (1..).zip(text.lines().map(str::trim)) {
        if open > 0 {
            open += brackets(line);
        } else if line.is_empty() {
            commented = false;
        } else if line.starts_with('#') {
            commented = true;
        } else if let Some(header) = line.strip_prefix('[') {
            // `dependencies`, `dependencies.NAME`, or either below `target.'cfg(...)'`.
            let header = header.split(']').next().unwrap_or(header).rsplit('.');
            let (last, before) = (header.clone().next().unwrap_or(""), header.clone().nth(1));
            if before.is_some_and(|kind| kind.ends_with("dependencies")) && !commented {
                found.push((number, last));
            }
            in_table = last.ends_with("dependencies");
            commented = false;
        } else if let Some((key, value)) = line.split_once('=') {
            open = brackets(value);
            if in_table && !commented {
                found.push((number, key.split('.').next().unwrap_or(key).trim().trim_matches('"')));
            }
        }
    }
    found
}

/// How many more brackets a value opens than it closes, outside strings.
fn brackets(value: &str) -> i32 {
    let unquoted = value.split('"').step_by(2).flat_map(str::chars);
    let depth = unquoted.take_while(|c| *c != '#').map(|c| match c {
        '[' | '{' => 1,
        ']' | '}' => -1,
        _ => 0,
    });
    depth.sum()
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::tidy::testing::check;

    #[test]
    fn a_comment_covers_the_group_below_it() {
        let good = "[package]\nname = \"a\"\n\n[features]\ndefault = [\"std\"]\n\n[dependencies]\n# Seeded order.\n\
            rand = { version = \"0.9\", features = [\n    \"x\", # ]\n] }\nrand_xoshiro = \"0.7\"\n\n\
            # Why f.\n[build-dependencies.f]\npath = \"../f\"\n";
        assert_eq!(check(&RULE, &[("crates/a/Cargo.toml", good)]), [""; 0]);
    }

    #[test]
    fn a_bare_line_and_one_past_a_gap_are_caught() {
        let bad = "[dependencies]\nlibc = \"0.2\"\n\n[target.'cfg(target_os = \"linux\")'.dev-dependencies]\n# Snapshots.\n\
            insta = \"1\"\n\nd.workspace = true\n\n[build-dependencies.f]\npath = \"../f\"\n";
        let fix = "say above it what it does for this package, or remove it";
        let expected = [(2, "libc"), (8, "d"), (10, "f")]
            .map(|(line, name)| format!("crates/a/Cargo.toml:{line}: reasons: `{name}` has no reason; {fix}"));
        assert_eq!(check(&RULE, &[("crates/a/Cargo.toml", bad)]), expected);
    }
}
