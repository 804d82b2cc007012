//! Draws a strip plot: grid, lanes, dots for the samples, and each value with its interval.

use super::Figure;
use super::axis::{Axis, AxisPosition};
use super::canvas::{self, Canvas, SMALL, TEXT, point};
use super::dots::dots;
use super::layout::{Layout, MEAN};
use super::palette::Role;
use crate::error::Result;
use crate::export::number;
use plotters::style::text_anchor::HPos;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The figure's SVG elements, without the enclosing tag.
pub(super) fn draw(figure: &Figure, axis: &Axis, layout: &Layout) -> Result<String> {
    Canvas::paint(layout.width, layout.height, |canvas| {
        canvas.grid(figure, axis, layout)?;
        (0..figure.strips.len()).try_for_each(|i| canvas.strip(figure, axis, layout, i))
    })
}

impl Canvas<'_> {
    fn grid(&self, figure: &Figure, axis: &Axis, layout: &Layout) -> Result<()> {
        let bottom = layout.bottom;
        let lanes = [
            (axis.low_lane, layout.low_x, "<", axis.lo),
            (axis.high_lane, layout.high_x, ">", axis.hi),
        ];
        for (is_used, x, sign, end) in lanes {
            if is_used {
                self.rectangle(Role::Lane, (x, 4.0), (x + layout.lane(), bottom))?;
                let label = format!("{sign} {}", number::significant(end, 3));
                let at = (x + layout.lane() / 2.0, bottom + 15.0);
                self.text(Role::Muted, SMALL, at, HPos::Center, &label)?;
            }
        }
        let (ticks, decimals) = axis.ticks(layout.ticks);
        // Omit a label that would overlap a lane's; keep its grid line.
        let [left, right] = layout.axis_x;
        let from = if axis.low_lane { left + 20.0 } else { left - 1.0 };
        let to = if axis.high_lane { right - 20.0 } else { right + 1.0 };
        for tick in ticks {
            let x = layout.x(axis.position(tick), 0.0);
            self.line(Role::Grid, 1.0, (x, 4.0), (x, bottom + 4.0))?;
            if (from..=to).contains(&x) {
                let at = (x, bottom + 15.0);
                self.text(Role::Muted, SMALL, at, HPos::Center, &axis.tick_label(tick, decimals))?;
            }
        }
        for i in 1..figure.strips.len() {
            let y = layout.top(i);
            self.line(Role::Grid, 0.5, (0.0, y), (layout.width, y))?;
        }
        let title = if axis.log {
            format!("{} (log scale)", figure.unit)
        } else {
            figure.unit.to_owned()
        };
        let middle = (layout.axis_x[0] + layout.axis_x[1]) / 2.0;
        self.text(Role::Muted, SMALL, (middle, bottom + 34.0), HPos::Center, &title)
    }

    fn strip(&self, figure: &Figure, axis: &Axis, layout: &Layout, i: usize) -> Result<()> {
        let strip = &figure.strips[i];
        let label = canvas::shortened(&strip.label, layout.label_letters);
        self.text(Role::Ink, TEXT, (2.0, layout.label_y(i)), HPos::Left, &label)?;
        if strip.finite().next().is_none() {
            let x = layout.axis_x[0] + 4.0;
            return self.text(Role::Muted, SMALL, (x, layout.dots_y(i)), HPos::Left, "no samples kept");
        }
        self.samples(figure, axis, layout, i)?;
        if strip.value.is_finite()
            && let position @ AxisPosition::At(_) = axis.position(strip.value)
        {
            self.mark(axis, layout, i, position, strip.ci95)?;
        }
        let at = (layout.width - 2.0, layout.label_y(i));
        self.text(Role::Ink, TEXT, at, HPos::Right, &strip.figure)
    }

    /// One line per kind of marker; the style sheet shows only its vertices.
    fn samples(&self, figure: &Figure, axis: &Axis, layout: &Layout, i: usize) -> Result<()> {
        let strip = &figure.strips[i];
        let mut random = Xoshiro256PlusPlus::seed_from_u64(figure.seed ^ (i as u64));
        let mut kinds = [
            Role::Dots(strip.series),
            Role::Dots(1),
            Role::Dots(2),
            Role::Beyond,
            Role::Below,
        ]
        .map(|role| (role, Vec::new()));
        for dot in dots(strip, figure.dots) {
            let [from, to] = dot.band;
            let y = layout.dots_y(i) + random.random_range(from..=to) * layout.reach();
            let position = axis.position(dot.value);
            let x = layout.x(position, random.random_range(-1.0..=1.0));
            let kind = match position {
                AxisPosition::At(_) if dot.series == strip.series => 0,
                AxisPosition::At(_) => dot.series,
                AxisPosition::High => 3,
                AxisPosition::Low => 4,
            };
            kinds[kind].1.push(point(x, y));
        }
        for (role, vertices) in kinds {
            if !vertices.is_empty() {
                self.vertices(role, vertices)?;
            }
        }
        Ok(())
    }

    /// A tick at the value, and whiskers to the ends of its interval or of the axis.
    fn mark(&self, axis: &Axis, layout: &Layout, i: usize, value: AxisPosition, ci: [f64; 2]) -> Result<()> {
        let (x, y) = (layout.x(value, 0.0), layout.mean_y(i));
        let bar = |x: f64, width: f64, height: f64| {
            let half = height / 2.0;
            self.line(Role::Mean, width, (x, y - half), (x, y + half))
        };
        bar(x, 2.4, MEAN)?;
        if !ci.iter().all(|end| end.is_finite()) {
            return Ok(());
        }
        let end = |value: f64, edge: f64| match axis.position(value) {
            position @ AxisPosition::At(_) => (layout.x(position, 0.0), true),
            _ => (edge, false),
        };
        let ends = [end(ci[0], layout.axis_x[0]), end(ci[1], layout.axis_x[1])];
        self.line(Role::Mean, 1.3, (ends[0].0, y), (ends[1].0, y))?;
        for (end, on_axis) in ends {
            // A whisker's end inside the value's tick would blur it.
            if on_axis && (end - x).abs() > 2.5 {
                bar(end, 1.3, MEAN * 0.6)?;
            }
        }
        Ok(())
    }
}
