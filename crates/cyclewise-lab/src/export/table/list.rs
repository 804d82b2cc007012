//! The list of experiments, and the checks of `verify`.

use super::grid::{BOLD, DIM, green, red, table};
use crate::experiment::Definition;
use crate::verify::Verification;
use std::fmt::Write;

/// The list of experiments.
pub(crate) fn experiments(all: &[&Definition]) -> String {
    let mut out = String::new();
    for d in all {
        let _ = writeln!(
            out,
            "{BOLD}{}{BOLD:#}  {}\n    {DIM}{} ({}){DIM:#}",
            d.name,
            d.question,
            d.source,
            d.unit.as_str()
        );
    }
    out
}

/// The checks, and whether each guarantee holds.
pub(crate) fn verification(v: &Verification) -> String {
    let rows = v.checks.iter().map(|c| {
        let (style, word) = if c.holds { (green(), "holds") } else { (red(), "BROKEN") };
        vec![
            c.name.to_string(),
            format!("{style}{word}{style:#}"),
            c.seen.clone(),
            c.promise.to_string(),
        ]
    });
    let mut out = format!("{}\n", table(&["check", "", "seen", "promise"], rows, 4));
    for note in &v.notes {
        let _ = writeln!(out, "{DIM}note:{DIM:#} {note}");
    }
    out
}
