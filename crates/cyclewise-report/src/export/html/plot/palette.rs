//! The plots' colours by role: each is written as an unusual stand-in colour, which the style sheet maps to a real one.
//!
//! So one SVG serves light, dark and printed pages. Without the style sheet all stand-ins are nearly black, and readable on
//! white.

use plotters::style::RGBColor;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Labels and figures.
    Ink,
    /// Tick labels and remarks.
    Muted,
    /// Grid lines and row separators.
    Grid,
    Lane,
    Mean,
    /// A strip's samples, by its series from 0. The style sheet turns each vertex into a dot.
    Dots(usize),
    /// Samples beyond the axis: each vertex becomes a triangle that points outwards.
    Beyond,
    /// Samples below the axis.
    Below,
    /// A cell of a heat map, by its step from the lowest.
    Heat(usize),
    /// The number in such a cell.
    HeatText(usize),
    /// A curve and its dots, by its index from 0.
    Line(usize),
}

/// Series with their own colour; further series reuse them.
pub const SERIES: usize = 4;

/// Colours of curves; further curves reuse them with dashes, then with shorter dashes.
const COLOURS: usize = 8;
/// Curves that can be told apart.
pub const LINES: usize = 3 * COLOURS;

/// Steps of a heat map's colours.
pub(super) const HEATS: usize = 9;

impl Role {
    /// The stand-in colour. `report.css` spells the same ones.
    pub(super) fn colour(self) -> RGBColor {
        match self {
            Role::Ink => RGBColor(1, 1, 1),
            Role::Muted => RGBColor(2, 2, 2),
            Role::Grid => RGBColor(3, 3, 3),
            Role::Lane => RGBColor(4, 4, 4),
            Role::Mean => RGBColor(5, 5, 5),
            Role::Dots(series) => RGBColor(6, 0, (series % SERIES) as u8 + 1),
            Role::Beyond => RGBColor(7, 0, 0),
            Role::Below => RGBColor(8, 0, 0),
            Role::Heat(step) => RGBColor(9, 0, step.min(HEATS - 1) as u8 + 1),
            Role::Line(i) => RGBColor(11, (i / COLOURS % 3) as u8, (i % COLOURS) as u8 + 1),
            Role::HeatText(step) => RGBColor(10, 0, step.min(HEATS - 1) as u8 + 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_can_be_told_apart_and_the_style_sheet_knows_them() {
        let css = include_str!("../../../../templates/report.css");
        let mut colours: Vec<_> = (0..LINES).map(|i| Role::Line(i).colour()).collect();
        for RGBColor(r, g, b) in &colours {
            for kind in ["stroke", "fill"] {
                assert!(
                    css.contains(&format!("[{kind}^=\"#{r:02X}\"][{kind}$=\"{b:02X}\"]")),
                    "{kind} {b}"
                );
            }
            assert!(
                *g == 0 || css.contains(&format!("[stroke^=\"#{r:02X}{g:02X}\"]")),
                "dash {g}"
            );
        }
        colours.sort_by_key(|c| (c.0, c.1, c.2));
        colours.dedup();
        assert_eq!(colours.len(), LINES);
    }

    #[test]
    fn the_style_sheet_knows_every_role() {
        let css = include_str!("../../../../templates/report.css");
        let dots = (0..SERIES).map(Role::Dots);
        let heats = (0..HEATS).flat_map(|step| [Role::Heat(step), Role::HeatText(step)]);
        let rest = [
            Role::Ink,
            Role::Muted,
            Role::Grid,
            Role::Lane,
            Role::Mean,
            Role::Beyond,
            Role::Below,
        ];
        for role in rest.into_iter().chain(dots).chain(heats) {
            let RGBColor(r, g, b) = role.colour();
            assert!(
                css.contains(&format!("=\"#{r:02X}{g:02X}{b:02X}\"")),
                "report.css lacks {role:?}"
            );
        }
    }
}
