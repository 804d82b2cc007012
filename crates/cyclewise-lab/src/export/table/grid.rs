//! The grid that all tables use, and its colours.

use crate::record::Verdict;
use anstyle::{AnsiColor, Color, Style};
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

pub(super) const BOLD: Style = Style::new().bold();
pub(super) const DIM: Style = Style::new().dimmed();
pub(super) const YELLOW: Style = Style::new().fg_color(Some(Color::Ansi(AnsiColor::Yellow)));

pub(super) fn coloured(verdict: Verdict) -> String {
    let style = match verdict {
        Verdict::Faster => green(),
        Verdict::Slower => red(),
        Verdict::Same | Verdict::Undecided | Verdict::None => DIM,
        Verdict::Depends => YELLOW,
    };
    format!("{style}{}{style:#}", verdict.in_words())
}

pub(super) const fn green() -> Style {
    Style::new().fg_color(Some(Color::Ansi(AnsiColor::Green)))
}

pub(super) const fn red() -> Style {
    Style::new().fg_color(Some(Color::Ansi(AnsiColor::Red)))
}

/// The word between a verdict and the second name: "faster than b", "same as b".
pub(super) fn preposition(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Faster | Verdict::Slower => "than",
        Verdict::Same => "as",
        Verdict::Undecided | Verdict::None | Verdict::Depends => "beside",
    }
}

/// A table whose first `words` columns are left-aligned words, and the others right-aligned numbers.
pub(super) fn table(header: &[&str], rows: impl Iterator<Item = Vec<String>>, words: usize) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(header.iter().map(|h| format!("{DIM}{h}{DIM:#}")));
    for row in rows {
        table.add_row(row);
    }
    for column in table.column_iter_mut().skip(words) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}
