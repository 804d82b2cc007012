//! Whether what an operation adds to nothing is what the other experiments' loops of the same operation cost.
//!
//! Both repeat the operation back to back, in different loops. Where they differ, one of the two is not that operation's cost:
//! the loops' code lies at other addresses and has other jumps between copies, and a cost may depend on the number of
//! copies.

use super::matrix::{NOTHING, Operation, ticks_text};
use super::{Experiment, Record};

/// The share by which two loops may differ: where code lies moves a cost by some percent.
const SHARE: f64 = 0.10;
/// The least uncertainty of a loop's figure, for its digits: two decimals of a tick are enough.
const LEAST: f64 = 0.1;

/// A note on each experiment with a matrix: which rows agree, and which do not.
pub fn note_agreement(record: &mut Record) {
    let told: Vec<Option<String>> = record.experiments.iter().map(|e| agreement(e, record)).collect();
    for (experiment, note) in record.experiments.iter_mut().zip(told) {
        let new = note.filter(|note| !experiment.notes.contains(note));
        experiment.notes.extend(new);
    }
}

fn agreement(e: &Experiment, record: &Record) -> Option<String> {
    let matrix = e.matrix()?;
    let at = matrix.surroundings.iter().position(|s| s.name == NOTHING)?;
    let compared: Vec<(bool, String)> = matrix
        .operations
        .iter()
        .filter_map(|o| {
            let cell = o.cells.get(at)?.as_ref()?;
            let (figure, half) = loop_figure(o, record)?;
            let allowed = cell.floor + half + cell.added.uncertainty() + SHARE * figure.abs();
            let [experiment, variant] = o.loop_row.as_ref()?;
            let own = ticks_text(cell.added.ticks, cell.floor.max(cell.added.uncertainty()));
            let text = format!(
                "{} {own}, {experiment}/{variant} {}",
                o.name,
                ticks_text(figure, half.max(LEAST))
            );
            Some(((cell.added.ticks - figure).abs() <= allowed, text))
        })
        .collect();
    let differ: Vec<&str> = compared
        .iter()
        .filter(|(agrees, _)| !agrees)
        .map(|(_, text)| text.as_str())
        .collect();
    let agree = compared.len() - differ.len();
    match (compared.len(), differ.as_slice()) {
        (0, _) => None,
        (all, []) => Some(format!(
            "back to back, all {all} operations that other experiments loop over cost the same there, within intervals and 10 %"
        )),
        (all, differ) => Some(format!(
            "back to back, {agree} of {all} operations that other experiments loop over cost the same there, within intervals and \
             10 %; loops of 32 and more copies and loops of {} differ here: {}",
            matrix.copies,
            differ.join("; ")
        )),
    }
}

/// The median of the row that loops over the operation, and half of its interval; `None` if it is not in the record or no
/// cost.
fn loop_figure(operation: &Operation, record: &Record) -> Option<(f64, f64)> {
    let [experiment, variant] = operation.loop_row.as_ref()?;
    let e = record.experiments.iter().find(|e| e.name == *experiment)?;
    let v = e.variants.iter().find(|v| v.name == *variant && v.n > 0)?;
    if v.linearity.as_ref().is_some_and(|l| l.linear == Some(false)) {
        return None;
    }
    Some(match &v.headline {
        Some(f) => {
            let ends = f.ci95.map(|bound| bound.map_or(0.0, |b| (b - f.median).abs()));
            (f.median, ends[0].max(ends[1]))
        }
        None => (v.median, (v.ci95[1] - v.ci95[0]) / 2.0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::made_up::{self, cell, experiment_of, matrix_of, operation, record_of, surrounding};
    use crate::record::{Body, Linearity, Variant};

    /// One operation that adds `added` to nothing, and a row that costs `looped`.
    fn record(added: f64, looped: f64) -> Record {
        let operation = Operation {
            loop_row: Some(["lock-prefix".to_string(), "lock-inc64".to_string()]),
            ..operation("lock-inc64", [Some(cell(made_up::added(added, 0.05), 0.1))])
        };
        let row = Variant {
            name: "lock-inc64".to_string(),
            n: 100,
            median: looped,
            ci95: [looped - 0.05, looped + 0.05],
            ..Variant::default()
        };
        let loops = experiment_of("lock-prefix", vec![row]);
        record_of(vec![loops, matrix_of(vec![surrounding(NOTHING)], vec![operation])])
    }

    fn noted(mut record: Record) -> Option<String> {
        note_agreement(&mut record);
        assert!(record.experiments[0].notes.is_empty());
        record.experiments[1].notes.pop()
    }

    #[test]
    fn loops_that_agree_are_counted() {
        assert_says!(noted(record(4.5, 4.4)).unwrap(), "all 1 operations");
        // Below a tick the floor counts more than the share.
        assert_says!(noted(record(0.1, 0.25)).unwrap(), "all 1 operations");
    }

    #[test]
    fn loops_that_differ_are_named_with_both_figures() {
        let note = noted(record(4.5, 7.0)).unwrap();
        assert_says!(note, "0 of 1", "lock-inc64 4.50, lock-prefix/lock-inc64 7.00");
    }

    #[test]
    fn figures_have_the_digits_of_their_intervals() {
        let mut wide = record(14.5, 27.0);
        let matrix = wide.experiments[1].body.matrix_mut().unwrap();
        matrix.operations[0].cells[0].as_mut().unwrap().floor = 3.5;
        wide.experiments[0].variants[0].ci95 = [25.0, 29.0];
        let note = noted(wide).unwrap();
        assert_says!(note, "lock-inc64 14.5, lock-prefix/lock-inc64 27.0");
        assert_says!(note, "copies and loops of 8 differ here");
    }

    #[test]
    fn a_row_that_is_missing_or_no_cost_is_not_compared() {
        let mut without = record(4.5, 7.0);
        without.experiments.remove(0);
        let mut e = without.experiments.remove(0);
        assert_eq!(agreement(&e, &without), None);
        e.body = Body::Variants;
        assert_eq!(agreement(&e, &record(4.5, 7.0)), None);
        let mut bent = record(4.5, 7.0);
        bent.experiments[0].variants[0].linearity = Some(Linearity {
            linear: Some(false),
            ..Linearity::default()
        });
        assert_eq!(noted(bent), None);
    }
}
