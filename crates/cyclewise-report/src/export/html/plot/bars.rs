//! Bars from zero with intervals: where the spread of a row comes from.

use super::axis::Axis;
use super::canvas::{Canvas, SMALL, SMALL_LETTER, TEXT};
use super::layout::Shape;
use super::palette::Role;
use super::{Plot, both_shapes};
use crate::error::Result;
use plotters::style::text_anchor::HPos;

/// An interval's end beyond this multiple of the longest bar is drawn to the edge, so that bars stay visible.
const LONGEST_WHISKER: f64 = 2.0;
/// Height of a bar, in pixels.
const BAR: f64 = 12.0;

pub struct Bar {
    pub label: &'static str,
    pub value: f64,
    /// NaN where a bound is not known.
    pub ci95: [f64; 2],
    /// The value as text.
    pub figure: String,
}

pub struct Bars<'a> {
    pub name: &'a str,
    pub unit: &'a str,
    pub bars: Vec<Bar>,
    pub caption: String,
}

impl Bars<'_> {
    /// Draws the bars; `None` if there are none.
    pub fn draw(&self) -> Result<Option<Plot>> {
        let longest = self
            .bars
            .iter()
            .map(|b| b.value)
            .filter(|v| v.is_finite())
            .fold(0.0, f64::max);
        if self.bars.is_empty() {
            return Ok(None);
        }
        let ends = self.bars.iter().map(|b| b.ci95[1]).filter(|v| v.is_finite());
        let hi = ends.fold(longest, f64::max).min(LONGEST_WHISKER * longest) * 1.04;
        let axis = Axis::without_lanes(0.0, if hi > 0.0 { hi } else { 1.0 }, false);
        let svgs = both_shapes(|shape| {
            let (width, left, right, row, ticks) = match shape {
                Shape::Wide => (960.0, 190.0, 120.0, 24.0, 7),
                Shape::Narrow => (340.0, 6.0, 6.0, 38.0, 4),
            };
            let bottom = 4.0 + row * self.bars.len() as f64;
            let x = |value: f64| left + (value / axis.hi).clamp(0.0, 1.0) * (width - left - right);
            let body = Canvas::paint(width, bottom + 40.0, |canvas| {
                let (ticks, decimals) = axis.ticks(ticks);
                for tick in ticks {
                    canvas.line(Role::Grid, 1.0, (x(tick), 4.0), (x(tick), bottom + 4.0))?;
                    let label = axis.tick_label(tick, decimals);
                    if x(tick) + label.chars().count() as f64 * SMALL_LETTER / 2.0 < width {
                        let from = (x(tick).max(SMALL_LETTER), bottom + 14.0);
                        canvas.text(Role::Muted, SMALL, from, HPos::Center, &label)?;
                    }
                }
                let middle = ((left + width - right) / 2.0, bottom + 31.0);
                canvas.text(Role::Muted, SMALL, middle, HPos::Center, self.unit)?;
                for (i, bar) in self.bars.iter().enumerate() {
                    let bar_y = 4.0 + row * (i + 1) as f64 - BAR / 2.0 - 5.0;
                    let text_y = if shape == Shape::Wide { bar_y } else { bar_y - 17.0 };
                    canvas.text(Role::Ink, TEXT, (2.0, text_y), HPos::Left, bar.label)?;
                    canvas.text(Role::Ink, TEXT, (width - 2.0, text_y), HPos::Right, &bar.figure)?;
                    self::bar(canvas, bar, bar_y, &x)?;
                }
                Ok(())
            })?;
            Ok((width, bottom + 40.0, body))
        })?;
        let figures: Vec<String> = self.bars.iter().map(|b| format!("{} {}", b.label, b.figure)).collect();
        Ok(Some(Plot {
            svgs,
            label: format!("{}, {}: {}.", self.name, self.unit, figures.join(", ")),
            caption: self.caption.clone(),
            legend: Vec::new(),
        }))
    }
}

fn bar(canvas: &Canvas, bar: &Bar, y: f64, x: &dyn Fn(f64) -> f64) -> Result<()> {
    if !bar.value.is_finite() {
        return Ok(());
    }
    let half = BAR / 2.0;
    canvas.rectangle(
        Role::Line(0),
        (x(0.0), y - half),
        (x(bar.value).max(x(0.0) + 1.0), y + half),
    )?;
    let [low, high] = bar.ci95;
    let low = if low.is_finite() { low } else { 0.0 };
    // An upper bound that is not known reaches the edge, and has no end there.
    let shown = if high.is_finite() { high } else { f64::MAX };
    canvas.line(Role::Mean, 1.3, (x(low), y), (x(shown), y))?;
    for end in [
        Some(low).filter(|v| *v > 0.0),
        Some(shown).filter(|v| x(*v) < x(f64::MAX)),
    ]
    .into_iter()
    .flatten()
    {
        canvas.line(Role::Mean, 1.3, (x(end), y - 3.5), (x(end), y + 3.5))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(bars: Vec<Bar>) -> Option<String> {
        let bars = Bars {
            name: "spread",
            unit: "%",
            bars,
            caption: String::new(),
        };
        bars.draw().unwrap().map(|mut plot| plot.svgs.swap_remove(0).body)
    }

    fn bar(value: f64, ci95: [f64; 2]) -> Bar {
        Bar {
            label: "between groups",
            value,
            ci95,
            figure: String::new(),
        }
    }

    #[test]
    fn odd_values_have_no_bar_and_no_failure() {
        assert!(body(Vec::new()).is_none());
        for odd in [f64::NAN, f64::INFINITY] {
            let text = body(vec![bar(odd, [odd; 2]), bar(3.0, [1.0, odd])]).unwrap();
            assert_eq!(text.matches("<rect").count(), 1, "{text}");
        }
        assert!(body(vec![bar(0.0, [0.0, 0.0])]).is_some());
    }

    #[test]
    fn a_wide_interval_does_not_hide_the_bar() {
        let width = |high| {
            let text = body(vec![bar(3.0, [1.0, high])]).unwrap();
            let rect = text.split("<rect").nth(1).unwrap();
            let width = rect.split("width=\"").nth(1).unwrap();
            width.split('"').next().unwrap().parse::<f64>().unwrap()
        };
        assert!(width(1e9) > 2000.0, "{}", width(1e9));
        assert!(width(3.1) > width(1e9));
    }
}
