//! What an operation adds in context: the range over surroundings of the experiment `in-context`.
//!
//! Back to back is mostly an upper bound of what a program pays, so a sentence that something is worth changing rests on this
//! range.

use super::listed;
use crate::number::significant;
use crate::record::matrix::{NOTHING, Range};
use crate::record::{Matrix, Record};

/// A row by experiment and variant.
pub(super) type Row = [&'static str; 2];

fn matrix(record: &Record) -> Option<&Matrix> {
    record.experiments.iter().find_map(|e| e.matrix())
}

/// What the operation of a row adds over surroundings; `None` if it was not measured.
fn range_of(record: &Record, row: Row) -> Option<Range<'_>> {
    let matrix = matrix(record)?;
    matrix.range(&matrix.operation_of(row)?.name)
}

/// `0.2 to 9.7`, in ticks.
fn ends(range: &Range) -> String {
    format!("{} to {}", significant(range.low.0, 2), significant(range.high.0, 2))
}

/// What each operation, called by the name beside its row, adds in context, after semicolons; empty if none was measured.
/// `counts` says, too, in how many surroundings an operation adds nothing.
pub(super) fn of_rows(record: &Record, rows: &[(&str, Row)], counts: bool) -> String {
    let (mut added, mut free) = (Vec::new(), String::new());
    for (what, row) in rows {
        let Some(range) = range_of(record, *row) else { continue };
        let nothing = range.nothing_in.len();
        if nothing == range.of {
            free.push_str(&format!("; {what} costs nothing among other instructions"));
        } else if range.is_free_in_most() {
            free.push_str(&format!(
                "; {what} costs nothing in most surroundings ({} ticks)",
                ends(&range)
            ));
        } else {
            let (adds, ticks) = if added.is_empty() {
                ("adds ", " ticks")
            } else {
                ("", "")
            };
            let nothing = match nothing {
                n if n > 0 && counts => format!(" (nothing in {n} of {})", range.of),
                _ => String::new(),
            };
            added.push(format!("{what} {adds}{}{ticks}{nothing}", ends(&range)));
        }
    }
    let added = listed(&added).map_or(String::new(), |all| format!("; in context {all}"));
    format!("{added}{free}")
}

/// What the operation of a row costs in context, in ticks: `9.1 to 22 in context`; `None` if it was not measured.
pub(super) fn cost(record: &Record, row: Row) -> Option<String> {
    let range = range_of(record, row)?;
    Some(if range.nothing_in.len() == range.of {
        "nothing in context".to_owned()
    } else if range.is_free_in_most() {
        format!("nothing in most surroundings ({})", ends(&range))
    } else {
        format!("{} in context", ends(&range))
    })
}

/// How many operations cost nothing in most surroundings, and which adds the most; `None` if none was measured.
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
            "{free} of {} operations cost nothing in most surroundings; the most: {}, {} ticks {at}",
            ranges.len(),
            operation.name,
            significant(range.high.0, 3)
        )
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::record::made_up;
    use crate::record::matrix::Operation;

    /// A record whose matrix has LOCK INC, which adds these ticks.
    pub(crate) fn record(added: &[f64]) -> Record {
        let cell = |ticks: &f64| Some(made_up::cell(made_up::added(*ticks, 0.0), 0.1));
        let inc = Operation {
            loop_row: Some(["lock-prefix", "lock-inc64"].map(str::to_owned)),
            ..made_up::operation("inc", added.iter().map(cell))
        };
        let surroundings = vec![made_up::surrounding("any"); added.len()];
        made_up::record_of(vec![made_up::matrix_of(surroundings, vec![inc])])
    }

    const INC: Row = ["lock-prefix", "lock-inc64"];

    #[test]
    fn what_includes_nothing_in_most_surroundings_costs_nothing_there() {
        let said = |added: &[f64]| of_rows(&record(added), &[("it", INC)], false);
        assert_eq!(
            said(&[4.5, 0.0, 0.05]),
            "; it costs nothing in most surroundings (0 to 4.5 ticks)"
        );
        // The twin: one surrounding more in which it costs, so that it costs nothing in half of them.
        assert_eq!(said(&[4.5, 0.0, 0.05, 2.1]), "; in context it adds 0 to 4.5 ticks");
        assert_eq!(said(&[4.5, 0.3]), "; in context it adds 0.30 to 4.5 ticks");
        assert_eq!(said(&[0.0, 0.01]), "; it costs nothing among other instructions");
        let cost = |added: &[f64]| super::cost(&record(added), INC).unwrap();
        assert_eq!(cost(&[4.5, 0.0, 0.05]), "nothing in most surroundings (0 to 4.5)");
        assert_eq!(cost(&[4.5, 0.0, 0.05, 2.1]), "0 to 4.5 in context");
    }

    #[test]
    fn several_operations_share_the_words_and_say_where_they_add_nothing() {
        let r = record(&[4.5, 0.0, 0.3, 2.1]);
        let rows = [("one", INC), ("not measured", ["lock-prefix", "no-such"]), ("two", INC)];
        assert_eq!(
            of_rows(&r, &rows, true),
            "; in context one adds 0 to 4.5 ticks (nothing in 1 of 4) and two 0 to 4.5 (nothing in 1 of 4)"
        );
        assert_eq!(
            of_rows(&r, &rows, false),
            "; in context one adds 0 to 4.5 ticks and two 0 to 4.5"
        );
    }

    #[test]
    fn the_line_of_a_matrix_counts_what_is_free() {
        let line = |added: &[f64]| super::line(record(added).experiments[0].matrix().unwrap());
        assert!(
            line(&[4.5, 0.0, 0.0])
                .unwrap()
                .starts_with("1 of 1 operations cost nothing in most surroundings; the most: inc, 4.50")
        );
        assert!(line(&[4.5, 0.4]).unwrap().starts_with("0 of 1 "));
        assert_eq!(line(&[]), None);
    }

    #[test]
    fn what_was_not_measured_is_not_claimed() {
        let other = ["lock-prefix", "lock-xadd64"];
        assert_eq!(cost(&record(&[1.0]), other), None);
        assert_eq!(of_rows(&record(&[1.0]), &[("it", other)], true), "");
        assert_eq!(of_rows(&Record::default(), &[("it", INC)], true), "");
    }
}
