//! Every dependency has its reason in a comment above it, or above the unbroken group of lines it is in.

use super::tree::Tree;
use super::{Finding, Rule};

pub(super) const RULE: Rule = Rule { name: "reasons", check };

fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for manifest in tree.manifests() {
        for dependency in manifest.dependencies.iter().filter(|d| !d.has_reason) {
            findings.push(Finding::new(
                &manifest.path,
                dependency.line,
                format!("`{}` has no reason", dependency.name),
                "say above it what it does for this package, or remove it",
            ));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::tidy::testing::check;

    #[test]
    fn a_comment_covers_the_group_below_it() {
        let good =
            "[package]\nname = \"a\"\n\n[dependencies]\n# Seeded order.\nrand = \"0.9\"\nrand_xoshiro = \"0.7\"\n";
        assert_eq!(check(&RULE, &[("crates/a/Cargo.toml", good)]), [""; 0]);
    }

    #[test]
    fn a_bare_line_and_one_past_a_gap_are_caught() {
        let bad =
            "[dependencies]\nlibc = \"0.2\"\n\n[dev-dependencies]\n# Snapshots.\ninsta = \"1\"\n\ntempfile = \"3\"\n";
        let fix = "say above it what it does for this package, or remove it";
        assert_eq!(
            check(&RULE, &[("crates/a/Cargo.toml", bad)]),
            [
                format!("crates/a/Cargo.toml:2: reasons: `libc` has no reason; {fix}"),
                format!("crates/a/Cargo.toml:8: reasons: `tempfile` has no reason; {fix}"),
            ]
        );
    }
}
