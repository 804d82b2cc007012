//! The list of experiments, and the checks of `verify`.

use super::grid::{BOLD, DIM, Look, YELLOW, green, red, wrapped};
use crate::experiment::Definition;
use crate::experiment::meanings::{Meaning, of_experiment};
use crate::verify::Verification;
use std::fmt::Write;

pub(crate) fn experiments(all: &[&Definition], with_variants: bool, look: Look) -> String {
    let mut out = String::new();
    for d in all {
        let question = wrapped(d.question, look, d.name.len() + 2, 4);
        let source = wrapped(&format!("{} ({})", d.source, d.unit.as_str()), look, 4, 4);
        let _ = writeln!(out, "{BOLD}{}{BOLD:#}  {question}\n    {DIM}{source}{DIM:#}", d.name);
        if with_variants {
            variants(&mut out, &of_experiment(d.name), look);
        }
    }
    out
}

fn variants(out: &mut String, meanings: &[Meaning], look: Look) {
    let width = meanings.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, meaning) in meanings {
        let meaning = wrapped(meaning, look, width + 3, width + 3);
        let _ = writeln!(out, " {name:width$}  {meaning}");
    }
}

/// The checks, and whether each guarantee holds.
pub(crate) fn verification(v: &Verification, look: Look) -> String {
    let outcome = |holds| match holds {
        Some(true) => (green(), "holds"),
        Some(false) => (red(), "BROKEN"),
        None => (YELLOW, "not shown"),
    };
    let mut out = String::new();
    for c in &v.checks {
        let (style, word) = outcome(c.holds);
        let seen = wrapped(&format!(": {}", c.seen), look, c.name.len() + 2 + word.len(), 4);
        let promise = wrapped(c.promise, look, 4, 4);
        let _ = writeln!(
            out,
            "{BOLD}{}{BOLD:#}  {style}{word}{style:#}{seen}\n    {DIM}{promise}{DIM:#}",
            c.name
        );
    }
    for note in &v.notes {
        let _ = writeln!(out, "{DIM}note:{DIM:#} {}", wrapped(note, look, 6, 4));
    }
    out
}
