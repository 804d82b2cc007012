//! What operations add to surroundings: operations by surroundings, with a legend.

use super::aligned::Table;
use super::grid::{DIM, Look, shown_width, wrapped};
use crate::number::{NONE, decimals, fixed, half_width};
use crate::record::matrix::{Added, Cell, Matrix, Operation, Reading, Surrounding};
use crate::record::{Experiment, Interval, State, bounds};
use std::fmt::Write;

/// The cells that are named for their busy state.
const NAMED: usize = 5;

/// The matrix of `e`; `None` if it has none.
pub(super) fn in_context(e: &Experiment, look: Look) -> Option<String> {
    let matrix = e.matrix()?;
    // Where there is no room for all columns, the last are below the first.
    let width = |columns: &[&Surrounding]| grid(matrix, columns).lines().map(shown_width).max().unwrap_or(0);
    let mut left: Vec<&Surrounding> = matrix.surroundings.iter().collect();
    let mut out = String::new();
    while !left.is_empty() {
        let mut n = left.len();
        while n > 1 && !look.wide && width(&left[..n]) > look.columns {
            n -= 1;
        }
        let _ = writeln!(out, "{}", grid(matrix, &left[..n]));
        left.drain(..n);
    }
    if let Some(busy) = busy(matrix) {
        let _ = writeln!(out, "{}", wrapped(&busy, look, 0, 2));
    }
    let _ = writeln!(out, "{}", wrapped(&legend(matrix), look, 0, 2));
    Some(out)
}

fn grid(matrix: &Matrix, columns: &[&Surrounding]) -> String {
    let mut header = vec!["adds, ticks"];
    header.extend(columns.iter().map(|s| s.short.as_str()));
    let own = columns.iter().map(|s| {
        format!(
            "{DIM}{}{DIM:#}",
            s.own
                .first()
                .map_or(NONE.to_owned(), |f| ticks(f.median, half_width(bounds(f.ci95))))
        )
    });
    let mut rows = vec![
        std::iter::once(format!("{DIM}alone{DIM:#}"))
            .chain(own)
            .collect::<Vec<_>>(),
    ];
    rows.extend(matrix.operations.iter().map(|o| {
        let of = |s: &&Surrounding| cell(matrix, o, s).map_or(NONE.to_owned(), shown);
        std::iter::once(o.name.clone()).chain(columns.iter().map(of)).collect()
    }));
    let mut table = Table::new(&header, rows.into_iter(), 1);
    // One space between columns is enough: headings and numbers are short.
    table.behind = 0;
    table.to_string()
}

fn cell<'a>(matrix: &Matrix, operation: &'a Operation, surrounding: &Surrounding) -> Option<&'a Cell> {
    let at = matrix.surroundings.iter().position(|s| s.name == surrounding.name)?;
    operation.cells.get(at)?.as_ref()
}

/// What a cell adds: 0 where that is shown, its most where only that is known, and `?` where not even that is.
fn shown(cell: &Cell) -> String {
    match (cell.reading(), cell.at_most()) {
        (Reading::Nothing, _) => "0".to_owned(),
        (Reading::Adds, _) => with_digits(&cell.added, cell.floor),
        (Reading::Unknown, Some(most)) => format!("<{}", ticks(most, cell.floor.max(most))),
        (Reading::Unknown, None) => "?".to_owned(),
    }
}

/// Digits of what lies below the floor tell nothing.
fn with_digits(added: &Added, floor: f64) -> String {
    ticks(added.ticks, half_width(bounds(added.ci95)).max(floor))
}

/// With as many decimals as the uncertainty allows, and at most two: a table has room for no more.
fn ticks(value: f64, uncertainty: f64) -> String {
    fixed(value, decimals(value, uncertainty).clamp(0, 2))
}

/// The cells whose busy interval lies apart from the quiet one, those that differ most first; `None` if there are none.
fn busy(matrix: &Matrix) -> Option<String> {
    let cells = matrix
        .operations
        .iter()
        .flat_map(|o| matrix.measured(o).map(move |(s, cell)| (o, s, cell)));
    let mut apart: Vec<(f64, String)> = cells
        .filter_map(|(o, s, cell)| {
            let busy = cell.states.iter().find(|a| a.state == State::Busy)?;
            if cell.added.state != State::Quiet || !are_apart(cell.added.ci95, busy.ci95) {
                return None;
            }
            let [quiet, slowed] = [&cell.added, busy].map(|added| with_digits(added, cell.floor));
            let name = format!("{} in {} {slowed} (quiet {quiet})", o.name, s.short);
            Some(((busy.ticks - cell.added.ticks).abs(), name))
        })
        .collect();
    apart.sort_by(|a, b| b.0.total_cmp(&a.0));
    let named: Vec<&str> = apart.iter().take(NAMED).map(|(_, name)| name.as_str()).collect();
    let more = match apart.len() - named.len() {
        0 => String::new(),
        n => format!(", and {n} more"),
    };
    (!named.is_empty()).then(|| format!("beside a busy neighbour, apart from quiet: {}{more}", named.join(", ")))
}

fn are_apart(a: Interval, b: Interval) -> bool {
    let below = |x: Interval, y: Interval| x[1].zip(y[0]).is_some_and(|(high, low)| high < low);
    below(a, b) || below(b, a)
}

fn legend(matrix: &Matrix) -> String {
    let each = matrix.surroundings.iter().map(|s| {
        let name = if s.short == s.name {
            String::new()
        } else {
            format!(" ({})", s.name)
        };
        format!("{}{name}: {}", s.short, s.what)
    });
    format!(
        "alone: the surroundings' own ticks. 0: the interval is within the cell's floor. <: not shown to be more or less than the floor, \
         with the far end of the interval; ?: it has none. {}.",
        each.collect::<Vec<_>>().join("; ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Figure;
    use crate::record::made_up::{self, added, cell, matrix_of, operation};

    fn experiment() -> Experiment {
        let names = [("nothing", "none"), ("adds-120", "a120"), ("l3-miss", "L3")];
        let surrounding = |(i, (name, short)): (usize, (&str, &str))| Surrounding {
            short: short.to_owned(),
            own: vec![Figure {
                median: [0.13, 93.7, 251.4][i],
                ci95: [[0.125, 0.135], [93.6, 93.8], [249.0, 254.0]][i].map(Some),
                ..Figure::default()
            }],
            ..made_up::surrounding(name)
        };
        let cell = |ticks: f64, half: f64| Some(cell(added(ticks, half), 0.1));
        matrix_of(
            names.into_iter().enumerate().map(surrounding).collect(),
            vec![
                operation("lock-inc64", [cell(15.13, 0.01), cell(0.05, 0.02), cell(-3.2, 8.0)]),
                operation("rdtscp", [cell(31.0, 0.1), None, cell(140.2, 1.0)]),
            ],
        )
    }

    fn plain(look: Look) -> String {
        anstream::adapter::strip_str(&in_context(&experiment(), look).unwrap()).to_string()
    }

    #[test]
    fn the_matrix_as_people_read_it() {
        insta::assert_snapshot!(plain(Look::new(None, false)));
    }

    #[test]
    fn columns_that_have_no_room_are_below() {
        let mut e = experiment();
        let m = e.body.matrix_mut().unwrap();
        for i in 3..11 {
            m.surroundings.push(made_up::surrounding(&format!("s{i}")));
        }
        let lines = |look| anstream::adapter::strip_str(&in_context(&e, look).unwrap()).to_string();
        let narrow = lines(Look::new(Some(40), false));
        assert!(narrow.lines().all(|l| l.chars().count() <= 40), "{narrow}");
        assert_eq!(narrow.matches("lock-inc64").count(), 2);
        assert_eq!(lines(Look::new(Some(40), true)).matches("lock-inc64").count(), 1);
        assert_eq!(in_context(&Experiment::default(), Look::new(None, false)), None);
    }

    #[test]
    fn numbers_have_the_digits_of_their_intervals() {
        for (value, uncertainty, text) in [
            (0.126, 0.004, "0.13"),
            (-0.4, 0.1, "−0.40"),
            (31.04, 0.4, "31.04"),
            (9.48, 2.5, "9.5"),
            (-250.7, 12.0, "−251"),
            (278.92, 300.0, "279"),
        ] {
            assert_eq!(ticks(value, uncertainty), text);
        }
    }

    #[test]
    fn cells_read_what_their_intervals_show() {
        let cell = |ticks: f64, ci95: Interval| {
            let added = added(ticks, 0.0);
            cell(Added { ci95, ..added }, 3.6)
        };
        assert_eq!(shown(&cell(0.4, [Some(-1.4), Some(2.4)])), "0");
        assert_eq!(shown(&cell(3.3, [Some(1.0), Some(4.64)])), "<4.6");
        assert_eq!(shown(&cell(0.4, [None, Some(2.4)])), "?");
        assert_eq!(shown(&cell(10.2, [Some(8.1), Some(12.7)])), "10.2");
    }

    #[test]
    fn cells_that_a_busy_neighbour_changes_are_named() {
        let with_busy = |moved: f64| {
            let mut e = experiment();
            let m = e.body.matrix_mut().unwrap();
            m.operations = (0..7).map(|_| m.operations[0].clone()).collect();
            for (i, o) in m.operations.iter_mut().enumerate() {
                o.name = format!("o{i}");
                let cell = o.cells[0].as_mut().unwrap();
                cell.added.state = State::Quiet;
                let ticks = cell.added.ticks + moved * (i + 1) as f64;
                cell.states = vec![Added {
                    state: State::Busy,
                    ..added(ticks, 0.01)
                }];
            }
            busy(e.matrix().unwrap())
        };
        let said = with_busy(1.0).unwrap();
        assert_says!(said, ": o6 in none 22.13 (quiet 15.13), o5 in none 21.13");
        assert!(said.ends_with("o2 in none 18.13 (quiet 15.13), and 2 more"), "{said}");
        // The twin: the intervals overlap.
        assert_eq!(with_busy(0.001), None);
    }
}
