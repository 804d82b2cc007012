//! A figure: one strip of dots for each variant, every kept sample a dot, drawn for a wide page and for a narrow one.
//!
//! The samples of a strip are the vertices of one line whose stroke the style hides and whose markers it shows: a few
//! bytes a sample, while translucent markers still add up where samples crowd.

mod axis;
mod canvas;
mod curves;
mod draw;
mod heat;
mod layout;
mod palette;

use super::number::{count, significant};
use crate::error::Result;
use axis::{Axis, Place};
pub(super) use curves::{Curves, Line};
pub(super) use heat::Heat;
use layout::{Layout, SCALE, Shape};
pub(super) use palette::{LINES, SERIES};

/// What is drawn in one row.
pub(super) struct Strip<'a> {
    pub(super) label: String,
    pub(super) samples: &'a [f64],
    pub(super) mean: f64,
    pub(super) ci95: [f64; 2],
    /// Which colour, from 0.
    pub(super) series: usize,
}

impl Strip<'_> {
    /// The samples that can be drawn.
    fn finite(&self) -> impl Iterator<Item = f64> {
        self.samples.iter().copied().filter(|s| s.is_finite())
    }
}

/// What to draw.
pub(super) struct Figure<'a> {
    pub(super) name: &'a str,
    pub(super) unit: &'a str,
    /// Seed of the dots' vertical offsets.
    pub(super) seed: u64,
    pub(super) strips: Vec<Strip<'a>>,
}

/// One SVG: the template writes its tag.
pub(super) struct Svg {
    pub(super) class: &'static str,
    pub(super) width: i32,
    pub(super) height: i32,
    pub(super) body: String,
}

/// A drawn figure.
pub(super) struct Plot {
    /// The wide and the narrow one; none where there is nothing to draw.
    pub(super) svgs: Vec<Svg>,
    /// What a reader who cannot see it is told.
    pub(super) label: String,
    /// What a reader must know to read it.
    pub(super) caption: String,
}

impl Figure<'_> {
    /// Draws it.
    pub(super) fn draw(&self) -> Result<Plot> {
        let Some(axis) = Axis::choose(&self.strips) else {
            return Ok(Plot {
                svgs: Vec::new(),
                label: String::new(),
                caption: "No samples kept, so there is nothing to plot.".to_owned(),
            });
        };
        let svgs = [("plot wide", Shape::Wide), ("plot narrow", Shape::Narrow)].map(|(class, shape)| {
            let layout = Layout::new(self, &axis, shape);
            Ok(Svg {
                class,
                width: (layout.width * SCALE) as i32,
                height: (layout.height * SCALE) as i32,
                body: draw::draw(self, &axis, &layout)?,
            })
        });
        Ok(Plot {
            svgs: svgs.into_iter().collect::<Result<_>>()?,
            label: self.label(),
            caption: self.caption(&axis),
        })
    }

    fn drawn(&self) -> usize {
        self.strips.iter().map(|s| s.finite().count()).sum()
    }

    fn label(&self) -> String {
        format!(
            "{}: {} samples in {} strips, in {}; the table that follows holds the figures.",
            self.name,
            count(self.drawn()),
            self.strips.len(),
            self.unit
        )
    }

    fn caption(&self, axis: &Axis) -> String {
        let mut out = format!(
            "Every kept sample is a dot ({} in all); vertical offsets only keep dots apart. \
             Tick and whiskers: mean and its 95\u{a0}% confidence interval.",
            count(self.drawn())
        );
        if axis.zoomed() {
            out.push_str(&format!(
                " The axis starts at {} {}, not at 0.",
                significant(axis.lo, 3),
                self.unit
            ));
        }
        for (place, sign, side) in [(Place::High, "▸", "right"), (Place::Low, "◂", "left")] {
            out.push_str(&self.lane_caption(axis, place, sign, side));
        }
        let odd = self.strips.iter().map(|s| s.samples.len()).sum::<usize>() - self.drawn();
        if odd > 0 {
            out.push_str(&format!(
                " {} more are not finite numbers and cannot be drawn.",
                count(odd)
            ));
        }
        out
    }

    /// Says how many samples are in a lane, whose they are, and what they are.
    fn lane_caption(&self, axis: &Axis, place: Place, sign: &str, side: &str) -> String {
        let mut all = Vec::new();
        let mut whose = Vec::new();
        for strip in &self.strips {
            let before = all.len();
            all.extend(strip.finite().filter(|&v| axis.place(v) == place));
            if all.len() > before {
                whose.push(format!("{} {}", all.len() - before, strip.label));
            }
        }
        let Some(lo) = all.iter().copied().reduce(f64::min) else {
            return String::new();
        };
        let hi = all.iter().copied().fold(lo, f64::max);
        let range = if hi > lo {
            format!("from {} to {}", significant(lo, 3), significant(hi, 3))
        } else {
            format!("at {}", significant(lo, 3))
        };
        let (lie, triangles) = if all.len() == 1 {
            ("lies", "a triangle")
        } else {
            ("lie", "triangles")
        };
        format!(
            " {} {lie} outside the axis, {range} {} ({}), drawn as {triangles} {sign} in the {side} lane.",
            count(all.len()),
            self.unit,
            whose.join(", ")
        )
    }
}

#[cfg(test)]
impl<'a> Strip<'a> {
    fn of(label: &str, samples: &'a [f64]) -> Self {
        let mean = samples.iter().sum::<f64>() / samples.len() as f64;
        Strip {
            label: label.to_owned(),
            samples,
            mean,
            ci95: [mean, mean],
            series: 0,
        }
    }
}
