//! Curves over a count: one line per series with a dot at each point, and crosses for published figures.
//!
//! # Invariants
//! 1. Every finite point and every finite cross is on the axes.

use super::axis::{Axis, AxisPosition};
use super::canvas::{Canvas, SMALL, SMALL_LETTER, shortened};
use super::layout::Shape;
use super::palette::Role;
use super::{Plot, both_shapes, ends};
use crate::error::Result;
use crate::export::number::{count, fixed, significant};
use plotters::style::text_anchor::HPos;

/// Values whose ratio exceeds this are unreadable on a linear axis.
const LOG_FROM: f64 = 200.0;
/// From this ratio on, doubling counts are spaced evenly.
const LOG_COUNTS_FROM: f64 = 16.0;
/// More counts than this are not taken for doubling.
const DOUBLED: usize = 12;
/// More dots than this on a line would touch each other.
const MOST_DOTS: usize = 40;
/// Height of a legend line, in pixels.
const LEGEND: f64 = 18.0;

pub struct Line {
    pub label: String,
    /// Count and value, in ascending order of counts.
    pub points: Vec<(f64, f64)>,
    /// Published figures of the same.
    pub published: Vec<(f64, f64)>,
}

pub struct Curves<'a> {
    pub name: &'a str,
    pub unit: &'a str,
    /// What the horizontal axis counts.
    pub counted: &'a str,
    pub lines: Vec<Line>,
    /// Follows the generated part of the caption.
    pub caption: String,
}

/// The layout, in pixels.
struct Frame {
    width: f64,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    x: Axis,
    y: Axis,
    ticks: (usize, usize),
    legend_columns: usize,
}

fn axis(lo: f64, hi: f64, log: bool) -> Axis {
    let (lo, hi) = if log {
        (lo / 1.12, hi * 1.12)
    } else {
        (lo.min(0.0), hi * 1.04)
    };
    Axis::without_lanes(lo, if hi > lo { hi } else { lo + 1.0 }, log)
}

impl Frame {
    fn new(figure: &Curves, shape: Shape, (x_lo, x_hi): (f64, f64), (y_lo, y_hi): (f64, f64)) -> Frame {
        let doubled = figure.counts().len() <= DOUBLED && x_lo > 0.0 && x_hi / x_lo >= LOG_COUNTS_FROM;
        let (width, left, height, ticks) = match shape {
            Shape::Wide => (960.0, 62.0, 330.0, (9, 6)),
            Shape::Narrow => (340.0, 46.0, 240.0, (4, 5)),
        };
        let y = axis(y_lo, y_hi, y_lo > 0.0 && y_hi / y_lo > LOG_FROM);
        let (values, decimals) = y.ticks(ticks.1);
        let letters = values
            .iter()
            .map(|value| y.tick_label(*value, decimals).chars().count());
        // Labels end left of the axis, and begin on the page.
        let left = f64::max(left, letters.max().unwrap_or(0) as f64 * SMALL_LETTER + 8.0);
        let longest = figure.lines.iter().map(|l| l.label.chars().count()).max().unwrap_or(0) as f64;
        let column = (longest * SMALL_LETTER + 44.0).min(width);
        Frame {
            width,
            left,
            right: width - 10.0,
            top: 24.0,
            bottom: height,
            x: axis(x_lo, x_hi, doubled),
            y,
            ticks,
            legend_columns: ((width / column) as usize).max(1),
        }
    }

    fn at(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let share = |axis: &Axis, value| match axis.position(value) {
            AxisPosition::At(share) => share,
            AxisPosition::Low => 0.0,
            AxisPosition::High => 1.0,
        };
        (
            self.left + share(&self.x, x) * (self.right - self.left),
            self.bottom - share(&self.y, y) * (self.bottom - self.top),
        )
    }

    fn height(&self, lines: usize) -> f64 {
        self.bottom + 42.0 + LEGEND * lines.div_ceil(self.legend_columns) as f64
    }
}

impl Curves<'_> {
    fn all(&self) -> impl Iterator<Item = (f64, f64)> + Clone {
        let lines = self.lines.iter().flat_map(|l| l.points.iter().chain(&l.published));
        lines.copied().filter(|(x, y)| x.is_finite() && y.is_finite())
    }

    /// Draws the figure; `None` if there is nothing to draw.
    pub fn draw(&self) -> Result<Option<Plot>> {
        let (Some(x), Some(y)) = (ends(self.all().map(|p| p.0)), ends(self.all().map(|p| p.1))) else {
            return Ok(None);
        };
        let svgs = both_shapes(|shape| {
            let frame = Frame::new(self, shape, x, y);
            let height = frame.height(self.lines.len());
            let body = Canvas::paint(frame.width, height, |canvas| {
                self.grid(canvas, &frame)?;
                (0..self.lines.len()).try_for_each(|i| self.line(canvas, &frame, i))?;
                (0..self.lines.len()).try_for_each(|i| self.legend(canvas, &frame, i))
            })?;
            Ok((frame.width, height, body))
        })?;
        Ok(Some(Plot {
            svgs,
            label: self.label(y),
            caption: self.full_caption(),
            legend: Vec::new(),
        }))
    }

    fn label(&self, (lo, hi): (f64, f64)) -> String {
        format!(
            "{}, by {}: {} lines, from {} to {} {}; the following table contains the figures.",
            self.name,
            self.counted,
            count(self.lines.len()),
            significant(lo, 3),
            significant(hi, 3),
            self.unit
        )
    }

    fn full_caption(&self) -> String {
        let mut out = format!("{}, by {}.", self.name, self.counted);
        let crosses: usize = self.lines.iter().map(|l| l.published.len()).sum();
        if crosses > 0 {
            out.push_str(&format!(
                " Crosses ×: published figures, measured on the machine itself ({crosses})."
            ));
        }
        if !self.caption.is_empty() {
            out.push(' ');
            out.push_str(&self.caption);
        }
        out
    }

    fn grid(&self, canvas: &Canvas, frame: &Frame) -> Result<()> {
        let (values, decimals) = frame.y.ticks(frame.ticks.1);
        for value in values {
            let (_, y) = frame.at((frame.x.lo, value));
            canvas.line(Role::Grid, 1.0, (frame.left, y), (frame.right, y))?;
            canvas.text(
                Role::Muted,
                SMALL,
                (frame.left - 6.0, y),
                HPos::Right,
                &frame.y.tick_label(value, decimals),
            )?;
        }
        let (counts, _) = if frame.x.log {
            (self.spaced_counts(frame), 0)
        } else {
            frame.x.ticks(frame.ticks.0)
        };
        for counted in counts.into_iter().filter(|c| c.fract() == 0.0) {
            let (x, _) = frame.at((counted, frame.y.lo));
            canvas.line(Role::Grid, 1.0, (x, frame.bottom), (x, frame.bottom + 4.0))?;
            canvas.text(
                Role::Muted,
                SMALL,
                (x, frame.bottom + 14.0),
                HPos::Center,
                &fixed(counted, 0),
            )?;
        }
        let scale = if frame.y.log { " (log scale)" } else { "" };
        let title = format!("{}, {}{scale}", self.name, self.unit);
        // On a narrow page the name is only in the caption, which wraps.
        let fits = (frame.width / SMALL_LETTER) as usize;
        let title = if title.chars().count() > fits {
            format!("{}{scale}", self.unit)
        } else {
            title
        };
        canvas.text(Role::Ink, SMALL, (2.0, 9.0), HPos::Left, &title)?;
        canvas.text(
            Role::Muted,
            SMALL,
            (frame.right, frame.bottom + 29.0),
            HPos::Right,
            self.counted,
        )
    }

    /// The different counts, ascending.
    fn counts(&self) -> Vec<f64> {
        let mut counts: Vec<f64> = self.all().map(|p| p.0).collect();
        counts.sort_by(f64::total_cmp);
        counts.dedup();
        counts
    }

    /// The counts whose labels do not overlap.
    fn spaced_counts(&self, frame: &Frame) -> Vec<f64> {
        let mut shown: Vec<f64> = Vec::new();
        for counted in self.counts() {
            let is_clear = |last: &f64| frame.at((counted, 0.0)).0 - frame.at((*last, 0.0)).0 > 26.0;
            if shown.last().is_none_or(is_clear) {
                shown.push(counted);
            }
        }
        shown
    }

    fn line(&self, canvas: &Canvas, frame: &Frame, i: usize) -> Result<()> {
        let (line, role) = (&self.lines[i], Role::Line(i));
        let finite = |points: &[(f64, f64)]| -> Vec<(f64, f64)> {
            let finite = points.iter().filter(|(x, y)| x.is_finite() && y.is_finite());
            finite.map(|p| frame.at(*p)).collect()
        };
        let points = finite(&line.points);
        if points.len() > 1 {
            canvas.path(role, 1.8, &points)?;
        }
        if points.len() <= MOST_DOTS {
            for (x, y) in &points {
                canvas.rectangle(role, (x - 2.2, y - 2.2), (x + 2.2, y + 2.2))?;
            }
        }
        for (x, y) in finite(&line.published) {
            canvas.line(role, 2.2, (x - 5.0, y - 5.0), (x + 5.0, y + 5.0))?;
            canvas.line(role, 2.2, (x - 5.0, y + 5.0), (x + 5.0, y - 5.0))?;
        }
        Ok(())
    }

    fn legend(&self, canvas: &Canvas, frame: &Frame, i: usize) -> Result<()> {
        let column = frame.width / frame.legend_columns as f64;
        let x = column * (i % frame.legend_columns) as f64 + 2.0;
        let y = frame.bottom + 46.0 + LEGEND * (i / frame.legend_columns) as f64;
        canvas.line(Role::Line(i), 2.6, (x, y), (x + 24.0, y))?;
        let letters = ((column - 34.0) / SMALL_LETTER) as usize;
        let label = shortened(&self.lines[i].label, letters);
        canvas.text(Role::Ink, SMALL, (x + 30.0, y), HPos::Left, &label)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curves(lines: Vec<Line>) -> Curves<'static> {
        Curves {
            name: "x",
            unit: "ns",
            counted: "threads",
            lines,
            caption: String::new(),
        }
    }

    fn line(label: &str, points: &[(f64, f64)], published: &[(f64, f64)]) -> Line {
        Line {
            label: label.to_owned(),
            points: points.to_vec(),
            published: published.to_vec(),
        }
    }

    #[test]
    fn every_point_is_a_dot_and_every_published_one_a_cross() {
        let lines = vec![
            line("a", &[(1.0, 5.0), (2.0, 9.0)], &[(2.0, 12.0)]),
            line("b", &[(1.0, 6.0), (2.0, f64::NAN)], &[]),
        ];
        let plot = curves(lines).draw().unwrap().unwrap();
        for svg in &plot.svgs {
            let marks = |of: &str| svg.body.matches(of).count();
            assert_eq!(marks("fill=\"#0B0001\""), 2, "dots of a");
            assert_eq!(marks("fill=\"#0B0002\""), 1, "dots of b");
            // The line, the legend, and the two strokes of the cross.
            assert_eq!(marks("stroke=\"#0B0001\""), 4);
        }
        assert_says!(plot.caption, "(1)");
    }

    #[test]
    fn counts_that_double_are_spread_evenly() {
        let points: Vec<(f64, f64)> = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0].map(|n| (n, n)).into();
        let frame = Frame::new(
            &curves(vec![line("a", &points, &[])]),
            Shape::Wide,
            (1.0, 32.0),
            (1.0, 32.0),
        );
        let x = |n| frame.at((n, 1.0)).0;
        assert!((x(2.0) - x(1.0) - (x(32.0) - x(16.0))).abs() < 1e-6);
        assert!(frame.x.log && !frame.y.log);
    }

    #[test]
    fn labels_of_a_narrow_plot_begin_on_the_page() {
        let figure = curves(vec![line("a", &[(1.0, 10.0), (112.0, 6e6)], &[])]);
        let frame = Frame::new(&figure, Shape::Narrow, (1.0, 112.0), (10.0, 6e6));
        let longest = "1 000 000".len() as f64 * SMALL_LETTER;
        assert!(frame.left - 6.0 >= longest, "{}", frame.left);
        // Short ones leave the plot as wide as before.
        let figure = curves(vec![line("a", &[(1.0, 0.0), (112.0, 1.0)], &[])]);
        assert!(Frame::new(&figure, Shape::Narrow, (1.0, 112.0), (0.0, 1.0)).left < 50.0);
    }

    #[test]
    fn all_points_are_inside() {
        for points in [
            &[(1.0, 0.0)][..],
            &[(1.0, 1e-3), (224.0, 1e6)],
            &[(5.0, 5.0), (5.0, 5.0)],
        ] {
            let curves = curves(vec![line("a", points, &[])]);
            let x = ends(curves.all().map(|p| p.0)).unwrap();
            let y = ends(curves.all().map(|p| p.1)).unwrap();
            let frame = Frame::new(&curves, Shape::Narrow, x, y);
            for point in points {
                let (x, y) = frame.at(*point);
                assert!((frame.left..=frame.right).contains(&x) && (frame.top..=frame.bottom).contains(&y));
            }
        }
        assert!(curves(vec![line("a", &[], &[])]).draw().unwrap().is_none());
    }
}
