//! What operations add to surroundings: operations by surroundings, with a legend.

use super::grid::{DIM, Look, shown_width, table, wrapped};
use crate::record::Experiment;
use crate::record::matrix::{Cell, Matrix, Operation, Surrounding};
use std::fmt::Write;

/// The matrix of `e`; `None` if it has none.
pub(super) fn in_context(e: &Experiment, look: Look) -> Option<String> {
    let matrix = e.matrix.as_ref()?;
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
    let _ = writeln!(out, "{}", wrapped(&legend(matrix), look, 0, 2));
    Some(out)
}

fn grid(matrix: &Matrix, columns: &[&Surrounding]) -> String {
    let mut header = vec!["adds, ticks"];
    header.extend(columns.iter().map(|s| s.short.as_str()));
    let own = columns.iter().map(|s| {
        format!(
            "{DIM}{}{DIM:#}",
            s.own.first().map_or("—".to_owned(), |f| ticks(f.median))
        )
    });
    let mut rows = vec![
        std::iter::once(format!("{DIM}alone{DIM:#}"))
            .chain(own)
            .collect::<Vec<_>>(),
    ];
    rows.extend(matrix.operations.iter().map(|o| {
        let of = |s: &&Surrounding| cell(matrix, o, s).map_or("—".to_owned(), shown);
        std::iter::once(o.name.clone()).chain(columns.iter().map(of)).collect()
    }));
    let mut table = table(&header, rows.into_iter(), 1);
    // One space between columns is enough: headings and numbers are short.
    table.column_iter_mut().for_each(|column| {
        column.set_padding((1, 0));
    });
    let lines = table.to_string();
    let lines: Vec<&str> = lines.lines().map(str::trim_end).collect();
    lines.join("\n")
}

fn cell<'a>(matrix: &Matrix, operation: &'a Operation, surrounding: &Surrounding) -> Option<&'a Cell> {
    let at = matrix.surroundings.iter().position(|s| s.name == surrounding.name)?;
    operation.cells.get(at)?.as_ref()
}

/// What a cell adds; `?` where its interval is wider than the figure and the floor.
fn shown(cell: &Cell) -> String {
    let figure = ticks(cell.ticks());
    match cell.added.ci95 {
        [Some(low), Some(high)] if (high - low) / 2.0 <= cell.added.ticks.abs().max(cell.floor) => figure,
        _ => format!("{figure}?"),
    }
}

/// A number of at most four letters and a sign.
fn ticks(value: f64) -> String {
    let text = match value.abs() {
        0.0 => return "0".to_owned(),
        x if x < 0.995 => format!("{value:.2}"),
        x if x < 99.95 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    };
    text.replace('-', "−")
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
        "alone: the surroundings' own ticks. 0: below the cell's floor. ?: the interval is wider than the figure. {}.",
        each.collect::<Vec<_>>().join("; ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Figure;
    use crate::record::matrix::Added;

    fn experiment() -> Experiment {
        let names = [("nothing", "none"), ("adds-120", "a120"), ("l3-miss", "L3")];
        let surrounding = |(i, (name, short)): (usize, (&str, &str))| Surrounding {
            name: name.to_owned(),
            short: short.to_owned(),
            what: format!("what {name} is"),
            own: vec![Figure {
                median: [0.13, 93.7, 251.4][i],
                ..Figure::default()
            }],
            ..Surrounding::default()
        };
        let cell = |ticks: f64, half: f64| {
            Some(Cell {
                added: Added {
                    ticks,
                    ci95: [Some(ticks - half), Some(ticks + half)],
                    ..Added::default()
                },
                floor: 0.1,
                ..Cell::default()
            })
        };
        let operation = |name: &str, cells| Operation {
            name: name.to_owned(),
            cells,
            ..Operation::default()
        };
        Experiment {
            matrix: Some(Matrix {
                copies: 8,
                surroundings: names.into_iter().enumerate().map(surrounding).collect(),
                operations: vec![
                    operation("lock-inc64", vec![cell(15.13, 0.01), cell(0.05, 0.02), cell(-3.2, 8.0)]),
                    operation("rdtscp", vec![cell(31.0, 0.1), None, cell(140.2, 1.0)]),
                ],
            }),
            ..Experiment::default()
        }
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
        let m = e.matrix.as_mut().unwrap();
        for i in 3..11 {
            m.surroundings.push(Surrounding {
                name: format!("s{i}"),
                short: format!("s{i}"),
                ..Surrounding::default()
            });
        }
        let lines = |look| anstream::adapter::strip_str(&in_context(&e, look).unwrap()).to_string();
        let narrow = lines(Look::new(Some(40), false));
        assert!(narrow.lines().all(|l| l.chars().count() <= 40), "{narrow}");
        assert_eq!(narrow.matches("lock-inc64").count(), 2);
        assert_eq!(lines(Look::new(Some(40), true)).matches("lock-inc64").count(), 1);
        assert_eq!(in_context(&Experiment::default(), Look::new(None, false)), None);
    }

    #[test]
    fn numbers_are_short() {
        for (value, text) in [
            (0.0, "0"),
            (0.126, "0.13"),
            (-0.4, "−0.40"),
            (0.996, "1.0"),
            (31.04, "31.0"),
            (99.96, "100"),
            (-250.7, "−251"),
        ] {
            assert_eq!(ticks(value), text);
        }
    }
}
