//! One module knows each format, so that another can be added without touching what measures.

use super::names::Name;
use super::source::Source;
use super::tree::Tree;
use super::{Finding, Rule};

pub(super) const RULE: Rule = Rule { name: "formats", check };

/// For a package: the crates that know formats, and the modules that may name them.
const FORMATS: &[(&str, &[&str], &[&str])] = &[
    (
        "cyclewise-lab",
        &["serde_json", "csv", "askama", "plotters"],
        &["export", "record"],
    ),
    (
        "cyclewise-fleet",
        &["serde_json", "csv", "askama", "plotters"],
        &["export", "record"],
    ),
    (
        "cyclewise-report",
        &["serde_json", "csv", "askama", "plotters"],
        &["export"],
    ),
];

fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in tree.package_sources() {
        let package = tree.package_of(source).and_then(|m| m.package.as_deref());
        let Some((_, crates, modules)) = FORMATS.iter().find(|(name, ..)| Some(*name) == package) else {
            continue;
        };
        if source.module().first().is_some_and(|m| modules.contains(&m.as_str())) {
            continue;
        }
        let places = modules.join("/ and ");
        for name in source.names.all.iter().filter(|n| !n.in_test) {
            if let Some(krate) = crates.iter().find(|c| names_crate(name, c, source)) {
                findings.push(Finding::new(
                    &source.path,
                    name.line,
                    format!("`{krate}` outside {places}/"),
                    "hand over a value, and let a function there write or read it",
                ));
            }
        }
    }
    findings
}

/// Whether the path starts at the crate, rather than at a variable or at a module of ours with the same name.
fn names_crate(name: &Name, krate: &str, source: &Source) -> bool {
    let is_path = name.segments.len() > 1 || name.binding.is_some();
    let is_ours = || {
        let binds = |n: &&Name| n.segments.len() > 1 && n.binding.as_deref() == Some(krate);
        source.names.all.iter().any(|n| binds(&n))
    };
    name.first() == krate && is_path && !is_ours()
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::tidy::testing::{check, package};

    const MANIFEST: &str = "crates/cyclewise-lab/Cargo.toml";

    #[test]
    fn formats_in_their_modules_and_the_words_elsewhere_are_fine() {
        let manifest = package("cyclewise-lab");
        let good = [
            (MANIFEST, manifest.as_str()),
            ("crates/cyclewise-lab/src/export/csv.rs", "//! C.\nuse csv::Writer;\n"),
            (
                "crates/cyclewise-lab/src/record/load.rs",
                "//! L.\nfn f() { serde_json::from_str(s) }\n",
            ),
            (
                "crates/cyclewise-lab/src/command/run.rs",
                "//! R.\nuse crate::export::csv;\nfn f(serde_json: u8) { csv::write(serde_json) }\n\
                 #[cfg(test)]\nmod tests { fn t() { serde_json::from_str(s) } }\n",
            ),
            ("crates/cyclewise-sim/src/lib.rs", "//! S.\nuse serde_json::Value;\n"),
        ];
        assert_eq!(check(&RULE, &good), [""; 0]);
    }

    #[test]
    fn a_format_in_a_command_is_caught() {
        let manifest = package("cyclewise-lab");
        let bad = [
            (MANIFEST, manifest.as_str()),
            (
                "crates/cyclewise-lab/src/command/run.rs",
                "//! R.\nuse askama::Template;\nfn f() { serde_json::to_string(r) }\n#[derive(askama::Template)]\nstruct S;\n",
            ),
        ];
        let fix = "hand over a value, and let a function there write or read it";
        let expected = [(2, "askama"), (3, "serde_json"), (4, "askama")].map(|(line, krate)| {
            format!(
                "crates/cyclewise-lab/src/command/run.rs:{line}: formats: `{krate}` outside export/ and record/; {fix}"
            )
        });
        assert_eq!(check(&RULE, &bad), expected);
    }
}
