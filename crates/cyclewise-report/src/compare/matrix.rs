//! What operations add to surroundings, in two records: the ranges that differ.
//!
//! A cell may be 0 or less, and then no ratio exists, so cells are no rows. The range over surroundings is what sentences
//! rest on, so it is compared: by its ends, with what the floors of the cells there and a tenth allow.

use crate::record::matrix::{Matrix, Range, Reading};
use crate::record::{Among, Experiment, Record, RowName};

/// The share by which the same range may differ: where code lies moves a cost by some percent.
const SHARE: f64 = 0.10;

/// One side: the experiment, and what a tick of it counts.
pub(super) type Side<'a> = (&'a Experiment, f64);

/// A note on the ranges; `None` without two matrices of common operations. `unit` is that of scaled ticks.
pub(super) fn note(base: Side, other: Side, label: &str, unit: &str) -> Option<String> {
    let (ours, theirs) = (base.0.matrix()?, other.0.matrix()?);
    let both: Vec<(&str, Range, Range)> = ours
        .operations
        .iter()
        .filter_map(|o| Some((o.name.as_str(), ours.range(&o.name)?, theirs.range(&o.name)?)))
        .collect();
    // What the cells at either record's end cannot tell from nothing, in both records.
    let floors = |name: &str, ends: [&str; 2]| {
        let of = |matrix: &Matrix| ends.map(|at| floor(matrix, name, at)).into_iter().fold(0.0, f64::max);
        of(ours) * base.1 + of(theirs) * other.1
    };
    let same = |name: &str, a: (f64, &str), b: (f64, &str)| {
        let (ticks, others) = (a.0 * base.1, b.0 * other.1);
        (ticks - others).abs() <= floors(name, [a.1, b.1]) + SHARE * ticks.abs().max(others.abs())
    };
    let differ: Vec<String> = both
        .iter()
        .filter(|(name, a, b)| !(same(name, a.low, b.low) && same(name, a.high, b.high)))
        .map(|(name, a, b)| {
            let [a, b] = [(a, base.1), (b, other.1)].map(|(range, scale)| [range.low.0 * scale, range.high.0 * scale]);
            format!("{name} {:.1} to {:.1} and {:.1} to {:.1}", a[0], a[1], b[0], b[1])
        })
        .collect();
    let alike = both.len() - differ.len();
    match (both.len(), differ.is_empty()) {
        (0, _) => None,
        (all, true) => Some(format!(
            "against {label}: the ranges of what {all} operations add are the same, within the floors and 10 %"
        )),
        (all, false) => Some(format!(
            "what an operation adds over all surroundings, in {unit}, here and in {label}: {}; the other {alike} of {all} ranges are \
             the same, within the floors and 10 %",
            differ.join("; ")
        )),
    }
}

/// What the operation of a row adds in the second record, compared with the first, in each of the surroundings that both have; `None`
/// if one of them did not measure it. Each side has what a tick of it counts.
pub(super) fn among(base: (&Record, f64), other: (&Record, f64), row: RowName<'_>) -> Option<Among> {
    let matrix = |record: &'_ Record| record.experiments.iter().position(|e| e.matrix().is_some());
    let (ours, theirs) = (
        base.0.experiments[matrix(base.0)?].matrix()?,
        other.0.experiments[matrix(other.0)?].matrix()?,
    );
    let (a, b) = (ours.operation_of(row)?, theirs.operation_of(row)?);
    let mut among = Among::default();
    for (surrounding, x) in ours.measured(a) {
        let Some((_, y)) = theirs.measured(b).find(|(s, _)| s.name == surrounding.name) else {
            continue;
        };
        among.of += 1;
        if x.reading() == Reading::Unknown || y.reading() == Reading::Unknown {
            continue;
        }
        let (before, after) = (x.ticks() * base.1, y.ticks() * other.1);
        let allowed = x.floor * base.1 + y.floor * other.1 + SHARE * before.abs().max(after.abs());
        match after - before {
            difference if difference.abs() <= allowed => among.same += 1,
            difference if difference < 0.0 => among.less.push(surrounding.name.clone()),
            _ => among.more.push(surrounding.name.clone()),
        }
    }
    (among.of > 0).then_some(among)
}

/// The floor of a cell; 0 where it was not measured.
fn floor(matrix: &Matrix, operation: &str, surrounding: &str) -> f64 {
    let operation = matrix.operations.iter().find(|o| o.name == operation);
    let cell = operation.and_then(|o| matrix.measured(o).find(|(s, _)| s.name == surrounding));
    cell.map_or(0.0, |(_, cell)| cell.floor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::made_up::{added, cell, matrix_of, operation, surrounding};

    fn experiment(rows: &[(&str, [f64; 2])]) -> Experiment {
        let cell = |ticks: f64| Some(cell(added(ticks, 0.0), 0.1));
        let operations = rows.iter().map(|(name, cells)| operation(name, cells.map(cell)));
        matrix_of(["nothing", "adds-30"].map(surrounding).to_vec(), operations.collect())
    }

    #[test]
    fn ranges_that_differ_are_named_and_the_others_counted() {
        let a = experiment(&[("lock-inc64", [0.0, 4.5]), ("rdtsc", [10.0, 22.0])]);
        let b = experiment(&[
            ("lock-inc64", [0.2, 13.6]),
            ("rdtsc", [10.2, 22.5]),
            ("only-here", [1.0, 1.0]),
        ]);
        let told = note((&a, 1.0), (&b, 1.0), "B", "ticks").unwrap();
        assert_says!(told, "lock-inc64 0.0 to 4.5 and 0.2 to 13.6");
        assert_says!(told, "the other 1 of 2 ranges");
        assert_lacks!(told, "rdtsc");
    }

    #[test]
    fn a_cell_with_a_high_floor_differs_by_more() {
        let a = experiment(&[("rdtsc", [9.0, 24.0])]);
        let mut b = experiment(&[("rdtsc", [8.0, 24.0])]);
        let cell = |b: &mut Experiment, floor| {
            b.body.matrix_mut().unwrap().operations[0].cells[0]
                .as_mut()
                .unwrap()
                .floor = floor;
        };
        // Below its floor, the cell reads 0.
        cell(&mut b, 9.5);
        assert_says!(note((&a, 1.0), (&b, 1.0), "B", "ticks").unwrap(), "are the same");
        // The twin: the same figures with a floor that hides nothing.
        b.body.matrix_mut().unwrap().operations[0].cells[0]
            .as_mut()
            .unwrap()
            .added = added(0.0, 0.0);
        cell(&mut b, 0.1);
        assert_says!(
            note((&a, 1.0), (&b, 1.0), "B", "ticks").unwrap(),
            "rdtsc 9.0 to 24.0 and 0.0"
        );
    }

    #[test]
    fn the_same_ranges_are_the_same_in_the_units_of_both_clocks() {
        let a = experiment(&[("lock-inc64", [0.0, 4.0])]);
        let b = experiment(&[("lock-inc64", [0.0, 8.0])]);
        let told = |scale| note((&a, 1.0), (&b, scale), "B", "ns").unwrap();
        assert_says!(told(0.5), "are the same");
        // The twin: ticks of one clock taken for those of the other.
        assert_says!(told(1.0), "0.0 to 4.0 and 0.0 to 8.0");
    }

    #[test]
    fn without_two_matrices_there_is_no_note() {
        let a = experiment(&[("lock-inc64", [0.0, 4.5])]);
        assert_eq!(note((&a, 1.0), (&Experiment::default(), 1.0), "B", "ticks"), None);
        assert_eq!(note((&a, 1.0), (&experiment(&[]), 1.0), "B", "ticks"), None);
    }
}
