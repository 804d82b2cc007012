//! A heat map: a coloured cell for each row and column, with its number if there is room.
//!
//! # Invariants
//! 1. Every cell with a finite value has a colour; the others have the lane's background.

use super::canvas::{Canvas, SMALL, SMALL_LETTER};
use super::layout::Shape;
use super::palette::{HEATS, Role};
use super::{Plot, both_shapes, ends};
use crate::error::Result;
use crate::export::number::{count, significant};
use plotters::style::text_anchor::HPos;

/// Values whose ratio exceeds this get colours by ratio instead of difference.
const LOG_FROM: f64 = 8.0;
/// The least width of a cell with a number, in pixels.
const LEAST_WITH_NUMBER: f64 = 27.0;
/// The greatest width of a cell, in pixels.
const WIDEST: f64 = 58.0;
/// The greatest height of a cell, in pixels.
const TALLEST: f64 = 30.0;
/// Height of a label, in pixels.
const LABEL: f64 = 15.0;

/// A heat map to draw.
pub struct Heat<'a> {
    pub name: &'a str,
    pub unit: &'a str,
    /// What rows and columns are, for screen readers.
    pub axes: [&'a str; 2],
    pub rows: Vec<String>,
    pub columns: Vec<String>,
    /// Row by row.
    pub cells: Vec<Option<f64>>,
    pub caption: String,
}

/// Maps values to colour steps.
struct Scale {
    lo: f64,
    hi: f64,
    log: bool,
    /// Values from zero on get colours by their square root: many are small, and zero has no ratio.
    root: bool,
}

impl Scale {
    fn for_values(values: impl Iterator<Item = f64> + Clone) -> Option<Scale> {
        let (lo, hi) = ends(values)?;
        Some(Scale {
            lo,
            hi,
            log: lo > 0.0 && hi / lo > LOG_FROM,
            root: lo <= 0.0 && hi > 0.0,
        })
    }

    fn step(&self, value: f64) -> usize {
        let share = if self.log {
            (value / self.lo).ln() / (self.hi / self.lo).ln()
        } else if self.root {
            (value.max(0.0) / self.hi).sqrt()
        } else {
            (value - self.lo) / (self.hi - self.lo)
        };
        // A single value gets the lowest step.
        let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
        ((share * HEATS as f64) as usize).min(HEATS - 1)
    }
}

/// The layout, in pixels.
struct Grid {
    left: f64,
    cell: (f64, f64),
    width: f64,
}

const TOP: f64 = LABEL + 6.0;
const LEGEND: f64 = 44.0;

impl Grid {
    fn new(heat: &Heat, shape: Shape) -> Grid {
        let width = match shape {
            Shape::Wide => 960.0,
            Shape::Narrow => 340.0,
        };
        let longest = heat.rows.iter().map(|r| r.chars().count()).max().unwrap_or(0) as f64;
        let left = (longest * SMALL_LETTER + 12.0).min(width / 3.0);
        let across = ((width - left - 2.0) / heat.columns.len().max(1) as f64).min(WIDEST);
        Grid {
            left,
            cell: (across, across.min(TALLEST)),
            width,
        }
    }

    fn numbers(&self) -> bool {
        self.cell.0 >= LEAST_WITH_NUMBER && self.cell.1 >= LABEL
    }

    fn bottom(&self, rows: usize) -> f64 {
        TOP + self.cell.1 * rows as f64
    }
}

impl Heat<'_> {
    fn finite(&self) -> impl Iterator<Item = f64> + Clone {
        self.cells.iter().flatten().copied().filter(|v| v.is_finite())
    }

    /// Draws the map; `None` if there is nothing to draw.
    pub fn draw(&self) -> Result<Option<Plot>> {
        let Some(scale) = Scale::for_values(self.finite()) else {
            return Ok(None);
        };
        let svgs = both_shapes(|shape| {
            let grid = Grid::new(self, shape);
            let height = grid.bottom(self.rows.len()) + LEGEND;
            let body = Canvas::paint(grid.width, height, |canvas| {
                self.labels(canvas, &grid)?;
                (0..self.rows.len()).try_for_each(|row| self.row(canvas, &grid, &scale, row))?;
                self.legend(canvas, &grid, &scale)
            })?;
            Ok((grid.width, height, body))
        })?;
        Ok(Some(Plot {
            svgs,
            label: format!(
                "{}: {} cells, {} by {}, from {} to {} {}.",
                self.name,
                count(self.finite().count()),
                self.axes[0],
                self.axes[1],
                significant(scale.lo, 3),
                significant(scale.hi, 3),
                self.unit
            ),
            caption: self.caption.clone(),
            legend: Vec::new(),
        }))
    }

    fn labels(&self, canvas: &Canvas, grid: &Grid) -> Result<()> {
        let longest = self.columns.iter().map(|c| c.chars().count()).max().unwrap_or(0) as f64;
        let every = |needed: f64, size: f64| (needed / size).ceil().max(1.0) as usize;
        let across = every(longest * SMALL_LETTER + 4.0, grid.cell.0);
        for (i, label) in self.columns.iter().enumerate().step_by(across) {
            let x = grid.left + (i as f64 + 0.5) * grid.cell.0;
            canvas.text(Role::Muted, SMALL, (x, LABEL / 2.0 + 2.0), HPos::Center, label)?;
        }
        let down = every(LABEL, grid.cell.1);
        for (i, label) in self.rows.iter().enumerate().step_by(down) {
            let y = TOP + (i as f64 + 0.5) * grid.cell.1;
            let letters = ((grid.left - 8.0) / SMALL_LETTER) as usize;
            let label = super::canvas::shortened(label, letters.max(2));
            canvas.text(Role::Muted, SMALL, (grid.left - 6.0, y), HPos::Right, &label)?;
        }
        Ok(())
    }

    fn row(&self, canvas: &Canvas, grid: &Grid, scale: &Scale, row: usize) -> Result<()> {
        let columns = self.columns.len();
        let cell = |i: usize| {
            self.cells
                .get(row * columns + i)
                .copied()
                .flatten()
                .filter(|v| v.is_finite())
        };
        let step = |i: usize| cell(i).map(|v| scale.step(v));
        // If cells are too small for numbers, neighbours of one colour are one rectangle, which keeps big maps small.
        let gap = if grid.numbers() { 1.0 } else { 0.0 };
        let top = TOP + grid.cell.1 * row as f64;
        let x = |i: usize| grid.left + grid.cell.0 * i as f64;
        let mut i = 0;
        while i < columns {
            let mut end = i + 1;
            while !grid.numbers() && end < columns && step(end) == step(i) {
                end += 1;
            }
            let role = step(i).map_or(Role::Lane, Role::Heat);
            canvas.rectangle(role, (x(i), top), (x(end) - gap, top + grid.cell.1 - gap))?;
            if let (Some(value), Some(step), true) = (cell(i), step(i), grid.numbers()) {
                let at = (x(i) + grid.cell.0 / 2.0, top + grid.cell.1 / 2.0);
                let digits = if value >= 100.0 || grid.cell.0 < 1.3 * LEAST_WITH_NUMBER {
                    2
                } else {
                    3
                };
                canvas.text(Role::HeatText(step), SMALL, at, HPos::Center, &rounded(value, digits))?;
            }
            i = end;
        }
        Ok(())
    }

    fn legend(&self, canvas: &Canvas, grid: &Grid, scale: &Scale) -> Result<()> {
        let y = grid.bottom(self.rows.len()) + 16.0;
        let width = 16.0;
        let lo = significant(scale.lo, 3);
        let start = grid.left.max(lo.chars().count() as f64 * SMALL_LETTER + 8.0);
        canvas.text(Role::Muted, SMALL, (start - 6.0, y + 6.0), HPos::Right, &lo)?;
        for step in 0..HEATS {
            let x = start + width * step as f64;
            canvas.rectangle(Role::Heat(step), (x, y), (x + width, y + 12.0))?;
        }
        let kind = match (scale.log, scale.root) {
            (true, _) => " (steps of equal ratio)",
            (_, true) => " (by square root)",
            _ => "",
        };
        let mut text = format!("{} {}{kind}", significant(scale.hi, 3), self.unit);
        let at = (start + width * HEATS as f64 + 6.0, y + 6.0);
        // A narrow page has no room for the steps' rule.
        if at.0 + text.chars().count() as f64 * SMALL_LETTER > grid.width {
            text.truncate(text.len() - kind.len());
        }
        canvas.text(Role::Muted, SMALL, at, HPos::Left, &text)
    }
}

/// A cell's number: from 100 on, an integer.
fn rounded(value: f64, digits: i32) -> String {
    if value.abs() >= 100.0 {
        format!("{value:.0}")
    } else {
        significant(value, digits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heat(cells: Vec<Option<f64>>, side: usize) -> Heat<'static> {
        Heat {
            name: "x",
            unit: "ns",
            axes: ["CPU", "CPU"],
            rows: (0..side).map(|i| i.to_string()).collect(),
            columns: (0..side).map(|i| i.to_string()).collect(),
            cells,
            caption: String::new(),
        }
    }

    #[test]
    fn every_value_is_a_cell_with_its_number() {
        let plot = heat(vec![None, Some(20.0), Some(200.0), None], 2)
            .draw()
            .unwrap()
            .unwrap();
        for svg in &plot.svgs {
            assert_eq!(svg.body.matches("#040404").count(), 2, "two cells without a value");
            // Once as a cell and once in the legend.
            assert_eq!(svg.body.matches("\"#090001\"").count(), 2);
            assert_eq!(svg.body.matches("\"#090009\"").count(), 2);
            assert_eq!(svg.body.matches("#0A000").count(), 2);
        }
        assert_says!(plot.label, "2 cells", "200");
    }

    #[test]
    fn a_big_map_merges_neighbours_and_shows_no_numbers() {
        let side = 200;
        let cells = (0..side * side)
            .map(|i| Some(if i % side < 100 { 1.0 } else { 3.0 }))
            .collect();
        let plot = heat(cells, side).draw().unwrap().unwrap();
        let body = &plot.svgs[0].body;
        assert_eq!(body.matches("<rect").count(), 2 * side + HEATS);
        assert_lacks!(body, "#0A00");
    }

    #[test]
    fn values_from_zero_on_are_told_apart_by_their_root() {
        let scale = Scale::for_values([-0.4, 0.0, 0.5, 4.0, 100.0].into_iter()).unwrap();
        let step = |value: f64| scale.step(value);
        assert_eq!((step(-0.4), step(0.0), step(100.0)), (0, 0, HEATS - 1));
        assert!(step(4.0) > step(0.5), "a linear scale has one step for both");
    }

    #[test]
    fn no_value_and_one_value_can_be_drawn() {
        assert!(heat(vec![None; 4], 2).draw().unwrap().is_none());
        assert!(heat(vec![Some(f64::NAN)], 1).draw().unwrap().is_none());
        let plot = heat(vec![Some(7.0)], 1).draw().unwrap().unwrap();
        assert_says!(plot.svgs[0].body, "#090001");
    }
}
