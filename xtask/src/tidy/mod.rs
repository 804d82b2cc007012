//! `cargo xtask tidy`: the rules of this house that no compiler checks, each in a file of its own.
//!
//! A rule reads the [`Tree`] and returns what it found; it prints nothing. A finding that is a failure reads
//! `FILE:LINE: RULE: what is wrong; FIX`. Every rule has a test that feeds it a small tree it must accept and one it
//! must refuse, so that a rule that has stopped biting is noticed.

mod architecture;
mod circle;
mod doc_tests;
mod layers;
mod length;
mod module_doc;
mod names;
mod private_words;
mod reasons;
mod soundness;
mod source;
#[cfg(test)]
mod testing;
mod tree;
mod unsafety;

use std::fmt;
use std::path::Path;
use tree::Tree;

/// One rule: its name in findings, and its check.
struct Rule {
    name: &'static str,
    check: fn(&Tree) -> Vec<Finding>,
}

const RULES: &[Rule] = &[
    architecture::RULE,
    circle::RULE,
    doc_tests::RULE,
    layers::ASM,
    layers::SYSCALLS,
    layers::FORMATS,
    length::RULE,
    module_doc::RULE,
    private_words::RULE,
    reasons::RULE,
    soundness::RULE,
    unsafety::RULE,
];

/// One thing a rule found.
struct Finding {
    file: String,
    line: usize,
    what: String,
    fix: String,
    warning: bool,
}

impl Finding {
    /// A failure at a line.
    fn new(file: &str, line: usize, what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self {
            file: file.to_owned(),
            line,
            what: what.into(),
            fix: fix.into(),
            warning: false,
        }
    }

    /// The same, listed without failing.
    fn into_warning(self) -> Self {
        Self { warning: true, ..self }
    }

    fn line_of_report(&self, rule: &str) -> impl fmt::Display {
        let mark = if self.warning { "warning: " } else { "" };
        format!("{mark}{}:{}: {rule}: {}; {}", self.file, self.line, self.what, self.fix)
    }
}

/// Checks the tree at `root` and prints what is wrong; true where nothing is.
pub(crate) fn run(root: &Path) -> bool {
    let tree = match Tree::load(root) {
        Ok(tree) => tree,
        Err(error) => {
            println!("tidy: {} cannot be read: {error}", root.display());
            return false;
        }
    };
    let (mut failures, mut warnings) = (0, 0);
    for rule in RULES {
        let mut findings = (rule.check)(&tree);
        findings.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
        for finding in findings {
            println!("{}", finding.line_of_report(rule.name));
            if finding.warning {
                warnings += 1;
            } else {
                failures += 1;
            }
        }
    }
    let verdict = if failures == 0 { "passed" } else { "FAILED" };
    println!(
        "tidy: {verdict}: {} files, {} rules, {failures} failures, {warnings} warnings",
        tree.files().len(),
        RULES.len(),
    );
    failures == 0
}
