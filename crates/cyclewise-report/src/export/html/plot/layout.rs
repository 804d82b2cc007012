//! The two shapes of a plot: labels left of their strips on a wide page, above them on a narrow one.

use super::Figure;
use super::axis::{Axis, AxisPosition};

/// Drawing units per CSS pixel: the drawing library uses integers, and dots need finer steps.
pub(super) const SCALE: f64 = 10.0;
/// Average letter width of the plot's 13 px text, in pixels.
const LETTER: f64 = 6.9;
const LANE: f64 = 44.0;
/// Height of the mean's tick.
pub(super) const MEAN: f64 = 10.0;
const AXIS_HEIGHT: f64 = 46.0;

/// The page width that a plot is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Tablets and larger.
    Wide,
    Narrow,
}

/// The layout, in pixels.
pub(super) struct Layout {
    pub shape: Shape,
    pub width: f64,
    pub height: f64,
    /// The number of letters that fit in a label.
    pub label_letters: usize,
    /// Left and right end of the axis.
    pub axis_x: [f64; 2],
    /// Left end of the lane of low values.
    pub low_x: f64,
    /// Left end of the lane of high values.
    pub high_x: f64,
    /// Bottom of the last row.
    pub bottom: f64,
    pub ticks: usize,
    row: f64,
    label: f64,
}

impl Layout {
    pub(super) fn new(figure: &Figure, axis: &Axis, shape: Shape) -> Layout {
        let longest = figure.strips.iter().map(|s| s.label.chars().count()).max().unwrap_or(0) as f64;
        let (width, left, right, row, label, ticks) = match shape {
            Shape::Wide => {
                let left = (longest * LETTER + 14.0).clamp(70.0, 270.0);
                (960.0, left, 152.0, 38.0, 0.0, 7)
            }
            Shape::Narrow => (340.0, 6.0, 6.0, 56.0, 20.0, 4),
        };
        let low = if axis.low_lane { LANE } else { 0.0 };
        let high = if axis.high_lane { LANE } else { 0.0 };
        let bottom = 4.0 + row * figure.strips.len() as f64;
        let letters = match shape {
            Shape::Wide => (left - 14.0) / LETTER,
            // A narrow label shares its line with the mean.
            Shape::Narrow => 26.0,
        };
        Layout {
            shape,
            width,
            height: bottom + AXIS_HEIGHT,
            label_letters: letters.ceil() as usize,
            axis_x: [left + low, width - right - high],
            low_x: left,
            high_x: width - right - high,
            bottom,
            ticks,
            row,
            label,
        }
    }

    pub(super) fn top(&self, i: usize) -> f64 {
        4.0 + self.row * i as f64
    }

    /// The line that the dots of row `i` are centred on.
    pub(super) fn dots_y(&self, i: usize) -> f64 {
        self.top(i) + self.label + 3.0 + self.reach()
    }

    /// The line of row `i`'s mean and whiskers, below the dots so that it hides none.
    pub(super) fn mean_y(&self, i: usize) -> f64 {
        self.top(i) + self.row - MEAN / 2.0 - 1.0
    }

    /// The line that the label of row `i` is centred on.
    pub(super) fn label_y(&self, i: usize) -> f64 {
        match self.shape {
            Shape::Wide => self.top(i) + self.row / 2.0,
            Shape::Narrow => self.top(i) + 12.0,
        }
    }

    /// Half the height of the dots' strip.
    pub(super) fn reach(&self) -> f64 {
        (self.row - self.label - MEAN - 7.0) / 2.0
    }

    /// The x coordinate of a position; `shift` from −1 to 1 spreads the values in a lane.
    pub(super) fn x(&self, position: AxisPosition, shift: f64) -> f64 {
        let [left, right] = self.axis_x;
        let middle = LANE / 2.0 + shift * (LANE / 2.0 - 7.0);
        match position {
            AxisPosition::At(share) => left + share * (right - left),
            AxisPosition::Low => self.low_x + middle,
            AxisPosition::High => self.high_x + middle,
        }
    }

    pub(super) fn lane(&self) -> f64 {
        LANE
    }
}
