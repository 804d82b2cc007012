//! What operations add to surroundings: a heat map, and a table with intervals.

use super::plot::{Heat, Plot};
use super::table::{Table, number, words};
use crate::error::Result;
use crate::number::{NONE, decimals, fixed, half_width, significant};
use crate::record::matrix::{Added, Cell, Matrix, Reading};
use crate::record::{Experiment, State, bounds};

/// The heat map of `e`; `None` if it has no matrix.
pub(super) fn heat(e: &Experiment) -> Result<Option<Plot>> {
    let Some(matrix) = e.matrix() else {
        return Ok(None);
    };
    let columns = matrix.surroundings.len();
    let cells = matrix
        .operations
        .iter()
        .flat_map(|o| (0..columns).map(move |i| o.cells.get(i)?.as_ref().map(Cell::ticks)));
    Heat {
        name: "What an operation adds to its surroundings",
        unit: "ticks",
        axes: ["operation", "surroundings"],
        rows: matrix.operations.iter().map(|o| o.name.clone()).collect(),
        columns: matrix.surroundings.iter().map(|s| s.short.clone()).collect(),
        cells: cells.collect(),
        caption: caption(matrix),
    }
    .draw()
}

fn caption(matrix: &Matrix) -> String {
    let each = matrix.surroundings.iter().map(|s| {
        let own = s.own.first().map_or(NONE.to_owned(), |f| significant(f.median, 3));
        format!("{}: {} ({own} ticks alone)", s.short, s.what)
    });
    format!(
        "Median of what the operation adds, in ticks; 0 where its interval is within the cell's floor. {}.",
        each.collect::<Vec<_>>().join("; ")
    )
}

/// What the floors are; `None` if there is no matrix with figures.
pub(super) fn floor(e: &Experiment) -> Option<String> {
    let [least, most] = e.matrix()?.floors()?;
    Some(format!(
        "The control is each kind of surroundings, sampled twice in a round; a cell reads 0 where its interval is \
         within a floor of {} to {} ticks.",
        significant(least, 2),
        significant(most, 2)
    ))
}

/// Every cell with its interval; `None` if there is no matrix.
pub(super) fn table(e: &Experiment) -> Option<Table> {
    let matrix = e.matrix()?;
    let mut table = Table::new("What each operation adds to its surroundings, in ticks, with 95\u{a0}% interval");
    table.words("Operation");
    for s in &matrix.surroundings {
        table.numbers(&s.name, "tick");
    }
    for o in &matrix.operations {
        let mut row = vec![words(&o.name).with_detail(&o.what)];
        row.extend(
            (0..matrix.surroundings.len()).map(|i| match o.cells.get(i).and_then(Option::as_ref) {
                Some(cell) => number(figure(cell)).with_detail(detail(cell)),
                None => number(NONE),
            }),
        );
        table.rows.push(row);
    }
    Some(table)
}

fn figure(cell: &Cell) -> String {
    match (cell.reading(), cell.at_most()) {
        (Reading::Nothing, _) => "0".to_owned(),
        (Reading::Unknown, Some(most)) => format!("<{}", fixed(most, digits(&cell.added, cell.floor))),
        (Reading::Unknown, None) => "?".to_owned(),
        (Reading::Adds, _) => shown(&cell.added, cell.floor),
    }
}

/// Digits of what lies below the floor tell nothing.
fn digits(added: &Added, floor: f64) -> i32 {
    decimals(added.ticks, half_width(bounds(added.ci95)).max(floor))
}

fn shown(added: &Added, floor: f64) -> String {
    fixed(added.ticks, digits(added, floor))
}

/// The interval, and the busy state where that was told apart.
fn detail(cell: &Cell) -> String {
    let own = match cell.added.ci95 {
        [Some(low), Some(high)] => {
            let [low, high] = [low, high].map(|bound| fixed(bound, digits(&cell.added, cell.floor)));
            if low == high { low } else { format!("{low} to {high}") }
        }
        _ => NONE.to_owned(),
    };
    match cell.states.iter().find(|a| a.state == State::Busy) {
        Some(busy) if cell.added.state == State::Quiet => format!("{own}; busy {}", shown(busy, cell.floor)),
        _ => own,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::made_up::{added, cell, matrix_of, operation, surrounding};

    fn experiment() -> Experiment {
        let in_state = |ticks: f64, state| Added {
            state,
            ..added(ticks, 0.1)
        };
        let cell = |ticks: f64| Cell {
            states: vec![in_state(ticks + 1.5, State::Busy)],
            ..cell(in_state(ticks, State::Quiet), 0.16)
        };
        matrix_of(
            ["nothing", "loads-32"].map(surrounding).to_vec(),
            vec![operation("lock-inc64", [13.6, 0.05].map(|ticks| Some(cell(ticks))))],
        )
    }

    #[test]
    fn cells_are_in_the_map_and_in_the_table() {
        let e = experiment();
        let plot = heat(&e).unwrap().unwrap();
        assert_says!(plot.label, "2 cells, operation by surroundings");
        assert_says!(plot.caption, "lo: what loads-32 is");
        assert_says!(floor(&e).unwrap(), "0.16 to 0.16 ticks");
        let table = table(&e).unwrap();
        let [name, first, second] = &table.rows[0][..] else {
            panic!("three cells")
        };
        assert_eq!(name.text, "lock-inc64");
        assert_eq!(first.text, "13.60");
        assert_says!(first.detail, "13.50 to 13.70; busy 15.10");
        assert_eq!(second.text, "0", "below its floor");
        assert_says!(second.detail, "−0.05 to 0.15");
    }

    #[test]
    fn without_a_matrix_there_is_neither_and_a_missing_cell_is_none() {
        assert!(heat(&Experiment::default()).unwrap().is_none() && table(&Experiment::default()).is_none());
        let mut e = experiment();
        e.body.matrix_mut().unwrap().operations[0].cells[1] = None;
        assert_eq!(table(&e).unwrap().rows[0][2].text, NONE);
    }

    #[test]
    fn a_cell_that_cannot_tell_is_no_zero() {
        let mut e = experiment();
        let shown = |e: &Experiment| table(e).unwrap().rows[0][2].text.clone();
        let cell = |e: &mut Experiment, ci95| {
            e.body.matrix_mut().unwrap().operations[0].cells[1]
                .as_mut()
                .unwrap()
                .added
                .ci95 = ci95;
        };
        cell(&mut e, [Some(-1.0), Some(2.5)]);
        assert_eq!(shown(&e), "<2.5");
        cell(&mut e, [None, Some(0.1)]);
        assert_eq!(shown(&e), "?");
    }
}
