//! What a record answers: at most ten sentences for the whole run, and one line for each experiment.
//!
//! # Invariants
//! 1. Each sentence is computed from the record's figures and verdicts. A sentence whose rows are missing is left out.
//! 2. A sentence claims no more than the verdict behind it: what is undecided, without a verdict, or dependent on the
//!    neighbour is called that.
//! 3. No sentence is about one CPU or machine by name, and none is written in advance.

mod company;
mod finding;
mod run;
mod summary;
mod topics;

pub(crate) use finding::Finding;
pub(crate) use summary::summary;

use crate::record::{Experiment, Record};

/// The most sentences about a whole run.
pub(crate) const MOST: usize = 10;

/// The sentences about the whole run.
pub(crate) fn of(record: &Record) -> Vec<String> {
    let about_run: Vec<String> = [run::neighbour(record), run::missing(record)]
        .into_iter()
        .flatten()
        .collect();
    let mut sentences = topics::all(record);
    sentences.truncate(MOST - about_run.len());
    sentences.extend(about_run);
    sentences
}

/// The line of an experiment: its verdicts counted, and the largest difference; of a matrix, how much of it is nothing.
pub(crate) fn line(e: &Experiment) -> String {
    if let Some(line) = e.matrix.as_ref().and_then(company::line) {
        return line;
    }
    let findings: Vec<Finding> = e.comparisons.iter().map(|c| Finding::of(c, e.unit)).collect();
    summary(&findings, |f| format!("{} against {},", f.a, f.b)).unwrap_or_else(|| "no comparisons".to_owned())
}

#[cfg(test)]
pub(crate) mod tests;
