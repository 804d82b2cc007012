//! What a record answers: at most ten lines for the whole run, and one line for each experiment.
//!
//! # Invariants
//! 1. Each sentence is computed from the record's figures and verdicts. A sentence whose rows are missing is left out.
//! 2. A sentence claims no more than the verdict behind it: what is undecided, without a verdict, or dependent on the
//!    neighbour is called that.
//! 3. No sentence is about one CPU or machine by name, and none is written in advance.

mod choice;
mod in_context;
mod run;
mod topics;

pub use choice::choices;
pub use cyclewise_bench::answer::{Finding, LimitedRow, SlowerLimit, growth, law, summary};
pub use topics::{IN_CONTEXT, WIDTHS};

use crate::record::{Experiment, Record};

/// The most lines about a whole run, in a terminal of [`COLUMNS`] columns.
const MOST: usize = 10;
const COLUMNS: usize = 100;
/// How far lines after a sentence's first are indented.
const INDENT: usize = 2;

/// The sentences about the whole run.
pub fn sentences(record: &Record) -> Vec<String> {
    let about_run: Vec<String> = [run::neighbour(record), run::missing(record)]
        .into_iter()
        .flatten()
        .collect();
    let mut room = MOST.saturating_sub(about_run.iter().map(|s| lines(s)).sum());
    let mut sentences = topics::all(record);
    sentences.retain(|s| {
        let fits = lines(s) <= room;
        room -= if fits { lines(s) } else { 0 };
        fits
    });
    sentences.extend(about_run);
    sentences
}

fn lines(sentence: &str) -> usize {
    let (mut lines, mut at) = (1, 0);
    for (i, word) in sentence.split(' ').enumerate() {
        let width = word.chars().count();
        let space = usize::from(i > 0);
        if i > 0 && at + space + width > COLUMNS {
            lines += 1;
            at = INDENT + width;
        } else {
            at += space + width;
        }
    }
    lines
}

/// The first of the ways to say something that takes no more lines than the last, which is the shortest.
fn fitting<const N: usize>(ways: [String; N]) -> String {
    let least = ways.last().map_or(0, |shortest| lines(shortest));
    ways.into_iter().find(|way| lines(way) <= least).unwrap_or_default()
}

/// `a, b and c`.
fn listed(parts: &[String]) -> Option<String> {
    match parts {
        [] => None,
        [one] => Some(one.clone()),
        [most @ .., last] => Some(format!("{} and {last}", most.join(", "))),
    }
}

/// The functions of which a line says how their time grows.
const MOST_GROWTH: usize = 3;

/// The line of an experiment: its verdicts counted, and the largest difference; of a matrix, how much of it is nothing. Then how functions
/// grow with their parameter.
pub fn line(e: &Experiment) -> String {
    if let Some(line) = e.matrix().and_then(in_context::line) {
        return line;
    }
    if let Some(guest) = e.guest().filter(|_| e.comparisons.is_empty()) {
        return guest.summary();
    }
    let findings: Vec<Finding> = e
        .comparisons
        .iter()
        .map(|c| Finding::of_comparison(c, e.unit))
        .collect();
    let mut parts: Vec<String> = summary(&findings).into_iter().collect();
    let laws = growth(e);
    parts.extend(laws.iter().take(MOST_GROWTH).cloned());
    match laws.len().saturating_sub(MOST_GROWTH) {
        0 if parts.is_empty() => "no comparisons".to_owned(),
        0 => parts.join("; "),
        more => format!("{}; and {more} more that grow", parts.join("; ")),
    }
}

#[cfg(test)]
pub mod tests;
