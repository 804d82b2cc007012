//! The drawing surface of all plots: lines, text and areas in the palette's roles.

use super::layout::SCALE;
use super::palette::Role;
use crate::error::Result;
use crate::export::html::broken;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// The drawing library divides a font size by this in `font-size`.
const FONT: f64 = 1.24;
pub(super) const TEXT: f64 = 13.0;
pub(super) const SMALL: f64 = 11.5;
/// Average letter width of [`SMALL`] text, in pixels.
pub(super) const SMALL_LETTER: f64 = 6.2;

pub(super) struct Canvas<'a> {
    area: DrawingArea<SVGBackend<'a>, Shift>,
}

fn units(pixels: f64) -> i32 {
    (pixels * SCALE).round() as i32
}

pub(super) fn point(x: f64, y: f64) -> (i32, i32) {
    (units(x), units(y))
}

/// `text`, shortened to at most `letters` characters; at a space, if there is one in the second half.
pub(in super::super) fn shortened(text: &str, letters: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(letters) else {
        return text.to_owned();
    };
    let all: String = text[..end].chars().take(letters.saturating_sub(1)).collect();
    let word = all.rfind(' ').filter(|space| *space >= all.len() / 2);
    let kept = word.map_or(&*all, |space| &all[..space]);
    format!("{}…", kept.trim_end_matches([' ', ',', ';', ':']))
}

impl Canvas<'_> {
    /// The SVG elements of `draw`, without the enclosing tag.
    pub(super) fn paint(width: f64, height: f64, draw: impl FnOnce(&Canvas) -> Result<()>) -> Result<String> {
        let mut svg = String::new();
        {
            let size = (units(width) as u32, units(height) as u32);
            let canvas = Canvas {
                area: SVGBackend::with_string(&mut svg, size).into_drawing_area(),
            };
            draw(&canvas)?;
            canvas.area.present().map_err(broken)?;
        }
        let inside = svg.split_once('>').map_or("", |(_, rest)| rest);
        Ok(inside.trim().trim_end_matches("</svg>").to_owned())
    }

    pub(super) fn line(&self, role: Role, width: f64, from: (f64, f64), to: (f64, f64)) -> Result<()> {
        self.path(role, width, &[from, to])
    }

    pub(super) fn path(&self, role: Role, width: f64, through: &[(f64, f64)]) -> Result<()> {
        let style = role.colour().stroke_width(units(width) as u32);
        let points: Vec<_> = through.iter().map(|(x, y)| point(*x, *y)).collect();
        self.area.draw(&PathElement::new(points, style)).map_err(broken)
    }

    /// An invisible line; the style sheet draws a marker at each vertex.
    pub(super) fn vertices(&self, role: Role, vertices: Vec<(i32, i32)>) -> Result<()> {
        self.area
            .draw(&PathElement::new(vertices, role.colour()))
            .map_err(broken)
    }

    pub(super) fn rectangle(&self, role: Role, from: (f64, f64), to: (f64, f64)) -> Result<()> {
        let ends = [point(from.0, from.1), point(to.0, to.1)];
        self.area
            .draw(&Rectangle::new(ends, role.colour().filled()))
            .map_err(broken)
    }

    /// A filled shape with these corners.
    pub(super) fn polygon(&self, role: Role, corners: &[(f64, f64)]) -> Result<()> {
        let corners: Vec<_> = corners.iter().map(|(x, y)| point(*x, *y)).collect();
        self.area
            .draw(&Polygon::new(corners, role.colour().filled()))
            .map_err(broken)
    }

    pub(super) fn disc(&self, role: Role, radius: f64, at: (f64, f64)) -> Result<()> {
        let style = role.colour().filled();
        self.area
            .draw(&Circle::new(point(at.0, at.1), units(radius), style))
            .map_err(broken)
    }

    pub(super) fn text(&self, role: Role, size: f64, at: (f64, f64), anchor: HPos, text: &str) -> Result<()> {
        let colour = role.colour();
        let style = TextStyle::from(("sans-serif", size * SCALE * FONT).into_font())
            .color(&colour)
            .pos(Pos::new(anchor, VPos::Center));
        self.area
            .draw(&Text::new(text, point(at.0, at.1), style))
            .map_err(broken)
    }
}
