//! The plot's colours as names: each is written as a colour nobody would choose, which the style sheet maps to a real one.
//!
//! One SVG so serves a light page, a dark one and a printed one. Where the mapping is lost, all of them are near black
//! and can be read on white.

use plotters::style::RGBColor;

/// What is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Labels and figures.
    Ink,
    /// Ticks' labels and remarks.
    Muted,
    /// Grid lines and row separators.
    Grid,
    /// The ground of a lane.
    Lane,
    /// A mean and its whiskers.
    Mean,
    /// A strip's samples, by its series from 0. The style turns each vertex of this line into a dot.
    Dots(usize),
    /// Samples beyond the axis: each vertex becomes a triangle that points there.
    Beyond,
    /// Samples below the axis.
    Below,
    /// A cell of a heat map, by its step from the least.
    Heat(usize),
    /// The number in such a cell.
    HeatText(usize),
}

/// Series that have a colour of their own; more start again.
pub(crate) const SERIES: usize = 4;

/// Steps of a heat map's colours.
pub(crate) const HEATS: usize = 9;

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
            Role::HeatText(step) => RGBColor(10, 0, step.min(HEATS - 1) as u8 + 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
