//! The machines of a fleet: a strip for each group, with the shape of its values, a box of its quantiles, and its outliers by
//! name.
//!
//! The shape is drawn from counts in bins, so the size of the plot does not depend on the number of machines. A small group has
//! a dot for each machine instead.
//!
//! # Invariants
//! 1. Every machine is in a bin that can be seen, or is a dot.
//! 2. Names that would overlap are left out; their dots are not.

use super::axis::{Axis, AxisPosition};
use super::canvas::{Canvas, SMALL, SMALL_LETTER, TEXT, point, shortened};
use super::layout::Shape;
use super::palette::Role;
use super::{Plot, both_shapes};
use crate::error::Result;
use crate::export::number::count;
use plotters::style::text_anchor::HPos;

/// Below this ratio of its ends, the ticks of the axis are evenly spaced numbers.
const LINEAR_TICKS_BELOW: f64 = 8.0;
/// Height of the shape, in pixels.
const TALL: f64 = 26.0;
/// The least height of a bin with a machine.
const LEAST: f64 = 1.5;
/// Room for labels on a wide page.
const LABELS: f64 = 200.0;
/// Outliers that are drawn in a strip.
const MOST_OUTLIERS: usize = 60;
/// The most letters of an outlier's name.
const NAME: usize = 24;

pub struct DensityStrip<'a> {
    pub label: String,
    /// What the group is, below the label where there is room.
    pub detail: &'a str,
    /// Machines in each bin of the range, on a logarithmic scale.
    pub bins: &'a [u32],
    /// The value of each machine if they are few, else empty.
    pub dots: Vec<f64>,
    pub median: f64,
    /// The quantiles 0.05, 0.25, 0.75 and 0.95.
    pub quantiles: [f64; 4],
    /// The median as text.
    pub figure: String,
    /// Values and names of outliers.
    pub outliers: Vec<(f64, &'a str)>,
}

/// A row of a fleet, to draw.
pub struct Density<'a> {
    pub name: &'a str,
    pub unit: &'a str,
    /// The ends of the bins.
    pub range: [f64; 2],
    pub strips: Vec<DensityStrip<'a>>,
    /// Whether the caption says how to read the plot; of many plots of a page, the first one's does.
    pub explained: bool,
    /// The last part of the caption.
    pub caption: String,
}

/// The layout, in pixels.
struct Frame {
    shape: Shape,
    width: f64,
    left: f64,
    right: f64,
    row: f64,
    label: f64,
    letters: usize,
    ticks: usize,
    axis: Axis,
}

impl Frame {
    fn new(plot: &Density, shape: Shape) -> Frame {
        let (width, left, right, label, letters, ticks) = match shape {
            Shape::Wide => (960.0, LABELS, 90.0, 0.0, (LABELS / SMALL_LETTER) as usize - 2, 7),
            Shape::Narrow => (340.0, 6.0, 6.0, 18.0, 26, 4),
        };
        let [lo, hi] = plot.range;
        Frame {
            shape,
            width,
            left,
            right: width - right,
            row: label + TALL + 16.0,
            label,
            letters,
            ticks,
            // A margin, so that the outermost bins do not touch the edge; one value alone gets an axis around it.
            axis: log_axis(lo, hi, (hi / lo).powf(0.02).max(1.002)),
        }
    }

    fn bottom(&self, strips: usize) -> f64 {
        4.0 + self.row * strips as f64
    }

    fn top(&self, strip: usize) -> f64 {
        4.0 + self.row * strip as f64 + self.label
    }

    /// The line that the shape of a strip stands on.
    fn base(&self, strip: usize) -> f64 {
        self.top(strip) + 2.0 + TALL
    }

    fn x(&self, value: f64) -> f64 {
        let share = match self.axis.position(value) {
            AxisPosition::At(share) => share,
            AxisPosition::Low => 0.0,
            AxisPosition::High => 1.0,
        };
        self.left + share * (self.right - self.left)
    }
}

fn log_axis(lo: f64, hi: f64, margin: f64) -> Axis {
    // The margin may go beyond what a double holds.
    Axis::without_lanes((lo / margin).max(f64::MIN_POSITIVE), (hi * margin).min(f64::MAX), true)
}

impl Density<'_> {
    /// Draws the plot; `None` if its range is none of a logarithmic axis.
    pub fn draw(&self) -> Result<Option<Plot>> {
        let [lo, hi] = self.range;
        if !(lo > 0.0 && hi >= lo && hi.is_finite()) || self.strips.is_empty() {
            return Ok(None);
        }
        let svgs = both_shapes(|shape| {
            let frame = Frame::new(self, shape);
            let height = frame.bottom(self.strips.len()) + 42.0;
            let body = Canvas::paint(frame.width, height, |canvas| {
                self.grid(canvas, &frame)?;
                (0..self.strips.len()).try_for_each(|i| self.strip(canvas, &frame, i))
            })?;
            Ok((frame.width, height, body))
        })?;
        Ok(Some(Plot {
            svgs,
            label: format!(
                "{}: machines by group in {} strips, in {}; the following table contains the figures.",
                self.name,
                count(self.strips.len()),
                self.unit
            ),
            caption: self.full_caption(),
            legend: Vec::new(),
        }))
    }

    fn full_caption(&self) -> String {
        if !self.explained {
            return self.caption.clone();
        }
        let dots = self.strips.iter().filter(|s| !s.dots.is_empty()).count();
        let shapes = match self.strips.len() - dots {
            0 => "",
            _ => {
                "Shapes: how many machines of a group have a value, relative to the group's fullest bin; a single machine has a visible bin. "
            }
        };
        let dots = match dots {
            0 => "",
            _ => "Dots: the machines of a small group; vertical offsets only separate them. ",
        };
        let outliers = match self.strips.iter().any(|s| !s.outliers.is_empty()) {
            true => " Large dots with names: outliers.",
            false => "",
        };
        format!(
            "{shapes}{dots}Below: the median, and the middle half (thick) and nine tenths (thin) of the machines. The scale is \
             logarithmic.{outliers} {}",
            self.caption
        )
    }

    fn grid(&self, canvas: &Canvas, frame: &Frame) -> Result<()> {
        let bottom = frame.bottom(self.strips.len());
        let Axis { lo, hi, .. } = frame.axis;
        // Between numbers that are near, powers of ten are too far apart to be ticks.
        let ruler = Axis {
            log: hi / lo > LINEAR_TICKS_BELOW,
            ..frame.axis.clone()
        };
        let (ticks, decimals) = ruler.ticks(frame.ticks);
        for tick in ticks {
            let x = frame.x(tick);
            canvas.line(Role::Grid, 1.0, (x, 4.0), (x, bottom + 4.0))?;
            let label = ruler.tick_label(tick, decimals);
            let half = label.chars().count() as f64 * SMALL_LETTER / 2.0;
            // A label that the edge would cut is left out.
            if x - half > 0.0 && x + half < frame.width {
                canvas.text(Role::Muted, SMALL, (x, bottom + 14.0), HPos::Center, &label)?;
            }
        }
        for i in 1..self.strips.len() {
            let y = frame.top(i) - frame.label;
            canvas.line(Role::Grid, 0.5, (0.0, y), (frame.width, y))?;
        }
        let middle = (frame.left + frame.right) / 2.0;
        let title = format!("{} (log scale)", self.unit);
        canvas.text(Role::Muted, SMALL, (middle, bottom + 32.0), HPos::Center, &title)
    }

    fn strip(&self, canvas: &Canvas, frame: &Frame, i: usize) -> Result<()> {
        let strip = &self.strips[i];
        let middle = frame.top(i) + frame.row / 2.0;
        let y = match frame.shape {
            Shape::Wide if strip.detail.is_empty() => middle,
            Shape::Wide => {
                let detail = shortened(strip.detail, frame.letters);
                canvas.text(Role::Muted, SMALL, (2.0, middle + 8.0), HPos::Left, &detail)?;
                middle - 8.0
            }
            Shape::Narrow => frame.top(i) - frame.label / 2.0 + 2.0,
        };
        let label = shortened(&strip.label, frame.letters);
        canvas.text(Role::Ink, TEXT, (2.0, y), HPos::Left, &label)?;
        canvas.text(Role::Ink, TEXT, (frame.width - 2.0, y), HPos::Right, &strip.figure)?;
        if strip.dots.is_empty() {
            self.shape(canvas, frame, i)?;
        } else {
            dots(canvas, frame, i, strip)?;
        }
        quantiles(canvas, frame, i, strip)?;
        outliers(canvas, frame, i, strip)
    }

    /// One shape of steps, a step a bin.
    fn shape(&self, canvas: &Canvas, frame: &Frame, i: usize) -> Result<()> {
        let bins = self.strips[i].bins;
        let most = bins.iter().copied().max().unwrap_or(0);
        if most == 0 {
            return Ok(());
        }
        let [lo, hi] = self.range;
        let at = |edge: usize| frame.x(lo * (hi / lo).powf(edge as f64 / bins.len() as f64));
        let base = frame.base(i);
        let mut corners: Vec<(f64, f64)> = vec![(at(0), base)];
        let mut height = 0.0;
        for (bin, n) in bins.iter().enumerate() {
            let of_bin = match n {
                0 => 0.0,
                n => (TALL * f64::from(*n) / f64::from(most)).max(LEAST),
            };
            // Corners only where the outline turns.
            if of_bin != height {
                corners.extend([(at(bin), base - height), (at(bin), base - of_bin)]);
                height = of_bin;
            }
        }
        corners.extend([(at(bins.len()), base - height), (at(bins.len()), base)]);
        canvas.polygon(Role::Line(0), &corners)
    }
}

/// A dot for each machine, at heights that repeat after many.
fn dots(canvas: &Canvas, frame: &Frame, i: usize, strip: &DensityStrip) -> Result<()> {
    /// The golden ratio's fraction: no two of a hundred multiples are near each other.
    const STEP: f64 = 0.618_033_988_75;
    let height = |n: usize| frame.base(i) - 3.0 - (n as f64 * STEP).fract() * (TALL - 6.0);
    let values = strip.dots.iter().enumerate().filter(|(_, v)| v.is_finite());
    let vertices = values.map(|(n, v)| point(frame.x(*v), height(n))).collect();
    canvas.vertices(Role::Dots(0), vertices)
}

/// The median, the middle half, and nine tenths.
fn quantiles(canvas: &Canvas, frame: &Frame, i: usize, strip: &DensityStrip) -> Result<()> {
    let y = frame.base(i) + 6.0;
    let [least, low, high, most] = strip.quantiles;
    for (ends, width) in [([least, most], 1.2), ([low, high], 4.0)] {
        if ends.iter().all(|v| v.is_finite()) {
            canvas.line(Role::Mean, width, (frame.x(ends[0]), y), (frame.x(ends[1]), y))?;
        }
    }
    if strip.median.is_finite() {
        let x = frame.x(strip.median);
        canvas.line(Role::Mean, 2.4, (x, y - 5.0), (x, y + 5.0))?;
    }
    Ok(())
}

/// The outliers, those with room with their names.
fn outliers(canvas: &Canvas, frame: &Frame, i: usize, strip: &DensityStrip) -> Result<()> {
    let y = frame.top(i) + 9.0;
    let mut sorted: Vec<_> = strip.outliers.iter().take(MOST_OUTLIERS).collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut free_from = frame.left;
    for (n, (value, name)) in sorted.iter().enumerate() {
        let x = frame.x(*value);
        canvas.disc(Role::Line(1), 3.4, (x, y))?;
        let name = shortened(name, NAME);
        let width = name.chars().count() as f64 * SMALL_LETTER + 10.0;
        let next = sorted.get(n + 1).map_or(frame.right, |next| frame.x(next.0) - 5.0);
        if x + width < next && x > free_from {
            canvas.text(Role::Ink, SMALL, (x + 7.0, y), HPos::Left, &name)?;
            free_from = x + width;
        } else if x - width > free_from {
            canvas.text(Role::Ink, SMALL, (x - 7.0, y), HPos::Right, &name)?;
            free_from = x + 5.0;
        } else {
            free_from = free_from.max(x + 5.0);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strip(bins: &[u32]) -> DensityStrip<'_> {
        DensityStrip {
            label: "A".to_owned(),
            detail: "AMD EPYC",
            bins,
            dots: Vec::new(),
            median: 5.0,
            quantiles: [4.8, 4.9, 5.1, 5.2],
            figure: "5.0".to_owned(),
            outliers: Vec::new(),
        }
    }

    fn plot<'a>(range: [f64; 2], strip: DensityStrip<'a>) -> Density<'a> {
        Density {
            name: "row",
            unit: "ns/op",
            range,
            strips: vec![strip],
            explained: true,
            caption: String::new(),
        }
    }

    #[test]
    fn one_machine_among_many_can_be_seen() {
        let mut bins = vec![0; 60];
        bins[3] = 100_000;
        let alone = plot([4.0, 9.0], strip(&bins)).draw().unwrap().unwrap();
        bins[50] = 1;
        let beside = plot([4.0, 9.0], strip(&bins)).draw().unwrap().unwrap();
        let corners = |p: &Plot| {
            let polygon = p.svgs[0].body.split("<polygon").nth(1).unwrap();
            polygon.split("/>").next().unwrap().matches(',').count()
        };
        assert_eq!(corners(&beside), corners(&alone) + 4, "{}", beside.svgs[0].body);
    }

    #[test]
    fn a_range_to_the_end_of_doubles_has_an_axis_with_an_end() {
        for range in [[4.0, 1e308], [f64::MIN_POSITIVE, f64::MAX]] {
            let [lo, hi] = range;
            let axis = log_axis(lo, hi, (hi / lo).powf(0.02).max(1.002));
            assert!(axis.lo > 0.0 && axis.hi.is_finite(), "{axis:?}");
            let ticks = axis.ticks(7).0;
            assert!(ticks.len() < 20 && ticks.iter().all(|t| t.is_finite()), "{ticks:?}");
        }
    }

    #[test]
    fn the_size_does_not_depend_on_the_number_of_machines() {
        let few: Vec<u32> = (0..60).map(|i| i % 7 + 1).collect();
        let many: Vec<u32> = few.iter().map(|n| n * 100_000).collect();
        let size = |bins| {
            plot([4.0, 9.0], strip(bins)).draw().unwrap().unwrap().svgs[0]
                .body
                .len()
        };
        assert_eq!(size(&few), size(&many));
    }

    #[test]
    fn names_that_would_overlap_are_left_out_and_their_dots_are_not() {
        let bins = [1; 10];
        let near: Vec<(f64, &str)> = (0..8).map(|i| (5.0 + f64::from(i) * 0.001, "node")).collect();
        let body = |outliers: Vec<(f64, &'static str)>| {
            let strip = DensityStrip {
                outliers,
                ..strip(&bins)
            };
            plot([4.0, 9.0], strip)
                .draw()
                .unwrap()
                .unwrap()
                .svgs
                .swap_remove(0)
                .body
        };
        let crowded = body(near);
        assert_eq!(crowded.matches("<circle").count(), 8);
        assert!(crowded.matches(">\nnode").count() < 4, "{crowded}");
        // The twin: with room, each has its name.
        let apart = body(vec![(4.5, "node"), (6.0, "node"), (8.5, "node")]);
        assert_eq!(apart.matches(">\nnode").count(), 3, "{apart}");
    }

    #[test]
    fn odd_ranges_are_no_failure() {
        let bins = [3; 4];
        for range in [
            [0.0, 1.0],
            [f64::NAN, 1.0],
            [2.0, 1.0],
            [1.0, f64::INFINITY],
            [-1.0, -0.5],
        ] {
            assert!(plot(range, strip(&bins)).draw().unwrap().is_none(), "{range:?}");
        }
        assert!(plot([5.0, 5.0], strip(&bins)).draw().unwrap().is_some());
        assert!(plot([1e-3, 1e9], strip(&[])).draw().unwrap().is_some());
    }
}
