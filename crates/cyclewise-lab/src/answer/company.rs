//! What an operation adds in company: the range over surroundings of the experiment `in-context`.
//!
//! Back to back is an upper bound of what a program pays, so a sentence that something is worth changing rests on this range.

use crate::number::significant;
use crate::record::matrix::NOTHING;
use crate::record::{Matrix, Record};

/// The matrix of the record, if it has one.
fn matrix(record: &Record) -> Option<&Matrix> {
    record.experiments.iter().find_map(|e| e.matrix.as_ref())
}

/// What the operation of a row, which is called `what`, adds in company, after a semicolon; empty if it was not measured.
pub(super) fn of_row(record: &Record, what: &str, [experiment, variant]: [&str; 2]) -> String {
    phrase(record, experiment, variant).map_or(String::new(), |phrase| format!("; {what} {phrase}"))
}

/// `adds 0.2 to 9.7 ticks in company`, the range over surroundings, or that it costs nothing in most company.
pub(super) fn phrase(record: &Record, experiment: &str, variant: &str) -> Option<String> {
    let matrix = matrix(record)?;
    let is_row = |row: &Option<[String; 2]>| row.as_ref().is_some_and(|[e, v]| e == experiment && v == variant);
    let operation = matrix
        .operations
        .iter()
        .find(|o| is_row(&o.loop_row) || o.name == variant)?;
    let range = matrix.range(&operation.name)?;
    let nothing = range.nothing_in.len();
    let ticks = |value: f64| significant(value, 2);
    let (low, high) = (ticks(range.low.0), ticks(range.high.0));
    Some(if nothing == range.of {
        "costs nothing in company".to_owned()
    } else if range.is_free_in_most() {
        format!("costs nothing in most company ({low} to {high} ticks)")
    } else {
        format!("adds {low} to {high} ticks in company")
    })
}

/// How many operations cost nothing in most company, and which adds the most; `None` if none was measured.
pub(super) fn line(matrix: &Matrix) -> Option<String> {
    let ranges = matrix
        .operations
        .iter()
        .filter_map(|o| Some((o, matrix.range(&o.name)?)));
    let ranges: Vec<_> = ranges.collect();
    let free = ranges.iter().filter(|(_, range)| range.is_free_in_most()).count();
    let most = ranges.iter().max_by(|x, y| x.1.high.0.total_cmp(&y.1.high.0));
    most.map(|(operation, range)| {
        let at = match range.high.1 {
            NOTHING => "back to back".to_owned(),
            other => format!("in {other}"),
        };
        format!(
            "{free} of {} operations cost nothing in most company; the most: {}, {} ticks {at}",
            ranges.len(),
            operation.name,
            significant(range.high.0, 3)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Experiment;
    use crate::record::matrix::{Added, Cell, Operation, Surrounding};

    fn record(added: &[f64]) -> Record {
        let cell = |ticks: &f64| {
            Some(Cell {
                added: Added {
                    ticks: *ticks,
                    ci95: [Some(*ticks); 2],
                    ..Added::default()
                },
                floor: 0.1,
                ..Cell::default()
            })
        };
        let matrix = Matrix {
            copies: 8,
            surroundings: added.iter().map(|_| Surrounding::default()).collect(),
            operations: vec![Operation {
                name: "inc".to_owned(),
                loop_row: Some(["lock-prefix", "lock-inc64"].map(str::to_owned)),
                cells: added.iter().map(cell).collect(),
                ..Operation::default()
            }],
        };
        Record {
            experiments: vec![Experiment {
                matrix: Some(matrix),
                ..Experiment::default()
            }],
            ..Record::default()
        }
    }

    #[test]
    fn what_includes_nothing_in_most_surroundings_costs_nothing_in_most_company() {
        let said = |added: &[f64]| phrase(&record(added), "lock-prefix", "lock-inc64").unwrap();
        assert_eq!(
            said(&[4.5, 0.0, 0.05]),
            "costs nothing in most company (0 to 4.5 ticks)"
        );
        // The twin: one surrounding more in which it costs, so that it costs nothing in half of them.
        assert_eq!(said(&[4.5, 0.0, 0.05, 2.1]), "adds 0 to 4.5 ticks in company");
        assert_eq!(said(&[4.5, 0.3]), "adds 0.30 to 4.5 ticks in company");
        assert_eq!(said(&[0.0, 0.01]), "costs nothing in company");
    }

    #[test]
    fn the_line_of_a_matrix_counts_what_is_free() {
        let line = |added: &[f64]| super::line(record(added).experiments[0].matrix.as_ref().unwrap());
        assert!(
            line(&[4.5, 0.0, 0.0])
                .unwrap()
                .starts_with("1 of 1 operations cost nothing in most company; the most: inc, 4.50")
        );
        assert!(line(&[4.5, 0.4]).unwrap().starts_with("0 of 1 "));
        assert_eq!(line(&[]), None);
    }

    #[test]
    fn what_was_not_measured_is_not_claimed() {
        assert_eq!(phrase(&record(&[1.0]), "lock-prefix", "lock-xadd64"), None);
        assert_eq!(of_row(&Record::default(), "it", ["lock-prefix", "lock-inc64"]), "");
    }
}
