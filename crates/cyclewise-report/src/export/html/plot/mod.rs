//! Plots, each drawn for wide and for narrow pages. A strip plot has one strip per variant, and dots for its samples.
//!
//! The dots of a strip are the vertices of one line; the style sheet hides its stroke and shows its markers. This takes a few
//! bytes per dot, and translucent markers still add up where samples are dense.
//!
//! Samples of quiet and of busy rounds are told apart by colour and by height. Their number in a strip is bounded: of more
//! samples, each state's evenly spaced quantiles are drawn, the least and the greatest among them.
#![allow(
    missing_docs,
    reason = "for the pages of this workspace; what a name does not say is documented"
)]

mod axis;
mod bars;
mod canvas;
mod curves;
mod density;
mod dots;
mod draw;
mod heat;
mod layout;
mod palette;

use crate::error::Result;
use crate::export::number::{count, significant};
use axis::{Axis, AxisPosition};
pub use bars::{Bar, Bars};
pub(super) use canvas::shortened;
pub use curves::{Curves, Line};
pub use density::{Density, DensityStrip};
pub use heat::Heat;
use layout::{Layout, SCALE, Shape};
pub use palette::{LINES, SERIES};

pub struct Strip<'a> {
    pub label: String,
    pub samples: &'a [f64],
    /// The state of each sample, as in the record; empty if they are not told apart.
    pub states: &'a str,
    /// The value that is marked; NaN if none is.
    pub value: f64,
    pub ci95: [f64; 2],
    /// The value as text.
    pub figure: String,
    /// The colour's index, from 0.
    pub series: usize,
}

impl Strip<'_> {
    /// The samples that can be drawn.
    fn finite(&self) -> impl Iterator<Item = f64> {
        self.samples.iter().copied().filter(|s| s.is_finite())
    }
}

pub struct Figure<'a> {
    pub name: &'a str,
    pub unit: &'a str,
    /// Seed of the dots' vertical offsets.
    pub seed: u64,
    /// The most dots of a strip.
    pub dots: usize,
    pub strips: Vec<Strip<'a>>,
}

/// One SVG; the template writes its tag.
pub struct Svg {
    pub class: &'static str,
    pub width: i32,
    pub height: i32,
    pub body: String,
}

pub struct Plot {
    /// The wide and the narrow one; empty if there is nothing to draw.
    pub svgs: Vec<Svg>,
    /// The description for screen readers.
    pub label: String,
    pub caption: String,
    /// What the colours of the dots are: the index of each from 1, and its words.
    pub legend: Vec<(usize, &'static str)>,
}

/// The least and the greatest value.
fn ends(values: impl Iterator<Item = f64> + Clone) -> Option<(f64, f64)> {
    Some((values.clone().reduce(f64::min)?, values.reduce(f64::max)?))
}

/// Draws both shapes; `draw` returns a shape's width and height in pixels, and the SVG elements.
fn both_shapes(draw: impl Fn(Shape) -> Result<(f64, f64, String)>) -> Result<Vec<Svg>> {
    let svg = |(class, shape)| {
        let (width, height, body) = draw(shape)?;
        Ok(Svg {
            class,
            width: (width * SCALE) as i32,
            height: (height * SCALE) as i32,
            body,
        })
    };
    [("plot wide", Shape::Wide), ("plot narrow", Shape::Narrow)]
        .into_iter()
        .map(svg)
        .collect()
}

impl Figure<'_> {
    pub fn draw(&self) -> Result<Plot> {
        let Some(axis) = Axis::choose(&self.strips) else {
            return Ok(Plot {
                svgs: Vec::new(),
                label: String::new(),
                caption: "No samples kept, so there is nothing to plot.".to_owned(),
                legend: Vec::new(),
            });
        };
        let svgs = both_shapes(|shape| {
            let layout = Layout::new(self, &axis, shape);
            Ok((layout.width, layout.height, draw::draw(self, &axis, &layout)?))
        })?;
        Ok(Plot {
            svgs,
            label: self.label(),
            caption: self.caption(&axis),
            legend: dots::legend(&self.strips),
        })
    }

    fn samples(&self) -> usize {
        self.strips.iter().map(|s| s.finite().count()).sum()
    }

    fn label(&self) -> String {
        format!(
            "{}: {} samples in {} strips, in {}; the following table contains the figures.",
            self.name,
            count(self.samples()),
            self.strips.len(),
            self.unit
        )
    }

    fn caption(&self, axis: &Axis) -> String {
        let thinned = self.strips.iter().any(|s| s.finite().count() > self.dots);
        let what = if thinned {
            format!(
                "Dots are samples ({} in total); of a row with more than {}, as many of its quantiles",
                count(self.samples()),
                self.dots
            )
        } else {
            format!("Every kept sample is a dot ({} in total)", count(self.samples()))
        };
        let mut out = format!(
            "{what}; vertical offsets only separate the dots. \
             Tick and whiskers: the figure at the right and its 95\u{a0}% interval."
        );
        if axis.zoomed() {
            out.push_str(&format!(
                " The axis starts at {} {}, not at 0.",
                significant(axis.lo, 3),
                self.unit
            ));
        }
        for (lane, sign, side) in [(AxisPosition::High, "▸", "right"), (AxisPosition::Low, "◂", "left")] {
            out.push_str(&self.lane_caption(axis, lane, sign, side));
        }
        let odd = self.strips.iter().map(|s| s.samples.len()).sum::<usize>() - self.samples();
        if odd > 0 {
            out.push_str(&format!(
                " {} more are not finite numbers and cannot be drawn.",
                count(odd)
            ));
        }
        out
    }

    /// Describes the samples in a lane: how many, of which strips, and their range.
    fn lane_caption(&self, axis: &Axis, lane: AxisPosition, sign: &str, side: &str) -> String {
        let mut all = Vec::new();
        let mut counts = Vec::new();
        for strip in &self.strips {
            let before = all.len();
            all.extend(strip.finite().filter(|&v| axis.position(v) == lane));
            if all.len() > before {
                counts.push(format!("{} {}", all.len() - before, strip.label));
            }
        }
        let Some((lo, hi)) = ends(all.iter().copied()) else {
            return String::new();
        };
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
            " {} {lie} beyond the axis, {range} {} ({}), drawn as {triangles} {sign} in the {side} lane.",
            count(all.len()),
            self.unit,
            counts.join(", ")
        )
    }
}

#[cfg(test)]
impl<'a> Strip<'a> {
    fn of_samples(label: &str, samples: &'a [f64]) -> Self {
        let mean = samples.iter().sum::<f64>() / samples.len() as f64;
        Strip {
            label: label.to_owned(),
            samples,
            states: "",
            value: mean,
            ci95: [mean, mean],
            figure: String::new(),
            series: 0,
        }
    }
}
