//! The grid that all tables use, their colours, and how text and tables fit a terminal.
#![allow(
    missing_docs,
    reason = "for the pages of this workspace; what a name does not say is documented"
)]

use super::aligned::Table;
pub use super::aligned::shown_width;
use crate::export::number::NONE;
use crate::record::{Unit, Verdict};
use anstyle::{AnsiColor, Color, Style};
use unicode_width::UnicodeWidthStr;

pub const BOLD: Style = Style::new().bold();
pub const DIM: Style = Style::new().dimmed();
pub const YELLOW: Style = Style::new().fg_color(Some(Color::Ansi(AnsiColor::Yellow)));

/// The most columns of text, unless all are asked for: a longer line is hard to read, and other outputs are cut there.
pub const MOST_COLUMNS: usize = 100;
/// Narrower than this, lines are longer than the terminal.
const LEAST_COLUMNS: usize = 40;

/// How much a table may show.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// The most characters in a line.
    pub columns: usize,
    /// Every column, whatever the width.
    pub wide: bool,
    /// The unit of commands' times, if not the one that fits.
    pub unit: Option<Unit>,
}

impl Look {
    /// For a terminal of this many columns; `None` elsewhere. `wide` asks for all columns.
    pub fn new(terminal: Option<u16>, wide: bool) -> Self {
        let columns = terminal.map_or(MOST_COLUMNS, usize::from);
        Look {
            columns: columns.clamp(LEAST_COLUMNS, MOST_COLUMNS),
            wide,
            unit: None,
        }
    }

    /// No limit where every column is shown whole.
    pub fn most(self, columns: usize) -> usize {
        if self.wide { usize::MAX } else { columns }
    }
}

pub fn style(verdict: Verdict) -> Style {
    match verdict {
        Verdict::Faster => green(),
        Verdict::Slower => red(),
        Verdict::Same | Verdict::Undecided | Verdict::None => DIM,
        Verdict::Depends => YELLOW,
    }
}

pub const fn green() -> Style {
    Style::new().fg_color(Some(Color::Ansi(AnsiColor::Green)))
}

pub const fn red() -> Style {
    Style::new().fg_color(Some(Color::Ansi(AnsiColor::Red)))
}

/// A column of a table that must fit a width.
pub struct Column {
    title: String,
    /// Columns of higher rank are left out first; 0 is never left out.
    rank: u8,
    /// Whether its text is broken into lines.
    breaks: bool,
    cells: Vec<String>,
}

impl Column {
    pub fn new(title: impl Into<String>, rank: u8, cells: impl Iterator<Item = String>) -> Self {
        Column {
            title: title.into(),
            rank,
            breaks: false,
            cells: cells.collect(),
        }
    }

    /// A column of text, which is broken into lines.
    pub fn text(title: impl Into<String>, cells: impl Iterator<Item = String>) -> Self {
        Column {
            breaks: true,
            ..Column::new(title, 0, cells)
        }
    }

    /// Whether no cell says anything.
    fn is_empty(&self) -> bool {
        self.cells.iter().all(|c| c.is_empty() || c == NONE)
    }

    /// The longest cell and the space beside it.
    fn width(&self) -> usize {
        let cells = self.cells.iter().flat_map(|c| c.lines()).map(shown_width);
        cells.chain([self.title.width()]).max().unwrap_or(0) + 2
    }
}

/// The least width of a column that is broken into lines.
const LEAST: usize = 10;
/// The same of the last column, as long as names can be broken instead.
const LEAST_LAST: usize = 30;

/// A table of names, numbers, and a last column of text that is broken into lines. Columns that are empty are left out, and of
/// the others as many as `look` has room for.
pub fn fitted(mut columns: Vec<Column>, look: Look) -> String {
    columns.retain(|c| !c.is_empty() || (c.rank == 0 && !c.breaks));
    let name = look.columns * 2 / 5;
    let needed = |columns: &[Column]| -> usize {
        let fixed = columns.iter().filter(|c| !c.breaks).map(Column::width).skip(1);
        let text = columns.iter().find(|c| c.breaks);
        let text = text.map_or(0, |c| c.width().min(LEAST_LAST));
        columns.first().map_or(0, |c| c.width().min(name)) + fixed.sum::<usize>() + text
    };
    while !look.wide && needed(&columns) > look.columns {
        let optional = columns.iter().enumerate().filter(|(_, c)| c.rank > 0);
        let Some((i, _)) = optional.max_by_key(|(_, c)| c.rank) else {
            break;
        };
        columns.remove(i);
    }
    // Names are broken as far as the last column needs it, which takes what the others leave.
    let over = needed(&columns).saturating_sub(look.columns);
    let name = columns
        .first()
        .map_or(0, |c| c.width().min(name))
        .saturating_sub(over)
        .max(LEAST);
    let header: Vec<&str> = columns.iter().map(|c| c.title.as_str()).collect();
    let others = columns.iter().enumerate().filter(|(_, c)| !c.breaks);
    let others = others.map(|(i, c)| if i == 0 { c.width().min(name) } else { c.width() });
    let free = look.columns.saturating_sub(others.sum());
    let rows = columns.first().map_or(0, |c| c.cells.len());
    let rows = (0..rows).map(|i| columns.iter().map(|c| c.cells[i].clone()).collect());
    let mut table = Table::new(&header, rows, 1);
    for (i, column) in columns.iter().enumerate() {
        match (i, column.breaks) {
            (_, true) => table.text(i, look.most(free.max(LEAST))),
            (0, false) => table.limit(0, look.most(name)),
            _ => {}
        }
    }
    table.to_string()
}

/// As many tables below each other as it takes to show all columns whole: each begins with the first `keys` columns, and has as many
/// of the others as `look` has room for. Text is broken only in cells that are wider than two fifths of it.
pub fn in_blocks(keys: usize, columns: &[Column], look: Look) -> String {
    let most = look.columns * 2 / 5;
    let width = |c: &Column| if look.wide { c.width() } else { c.width().min(most) };
    let (keys, others) = columns.split_at(keys);
    let mut blocks: Vec<Vec<&Column>> = Vec::new();
    for column in others.iter().filter(|c| !c.is_empty()) {
        let has_room = |block: &[&Column]| {
            look.wide || block.iter().map(|c| width(c)).sum::<usize>() + width(column) <= look.columns
        };
        match blocks.last_mut() {
            Some(block) if has_room(block) => block.push(column),
            _ => blocks.push(keys.iter().chain([column]).collect()),
        }
    }
    let block = |columns: &Vec<&Column>| {
        let header: Vec<&str> = columns.iter().map(|c| c.title.as_str()).collect();
        let rows = (0..columns[0].cells.len()).map(|i| columns.iter().map(|c| c.cells[i].clone()).collect());
        let mut table = Table::new(&header, rows, 0);
        for (i, column) in columns.iter().enumerate() {
            match column.breaks {
                true => table.text(i, look.most(most)),
                false => table.limit(i, look.most(most)),
            }
        }
        table.to_string()
    };
    blocks.iter().map(block).collect::<Vec<_>>().join("\n\n")
}

/// Breaks a text without colour codes at spaces, so that no line is longer than `look` allows. Lines after the first are
/// indented, and the first has room for `before` characters that the caller writes.
pub fn wrapped(text: &str, look: Look, before: usize, indent: usize) -> String {
    let mut out = String::new();
    let mut at = before;
    for (i, word) in text.split(' ').enumerate() {
        let width = word.width();
        if i > 0 {
            if at + 1 + width > look.columns && !look.wide {
                out.push('\n');
                out.push_str(&" ".repeat(indent));
                at = indent;
            } else {
                out.push(' ');
                at += 1;
            }
        }
        out.push_str(word);
        at += width;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(columns: u16) -> Look {
        Look::new(Some(columns), false)
    }

    #[test]
    fn text_is_broken_at_spaces() {
        let text = "one two three four five six seven eight nine ten eleven twelve";
        let out = wrapped(text, look(40), 6, 2);
        assert_eq!(out, "one two three four five six seven\n  eight nine ten eleven twelve");
        assert!(out.lines().all(|l| l.chars().count() <= 40));
        assert_eq!(wrapped(text, Look::new(Some(40), true), 6, 2), text);
    }

    #[test]
    fn columns_without_room_are_in_a_table_below_with_the_keys_again() {
        let cells = |text: &str| vec![text.to_owned()].into_iter();
        let columns = vec![
            Column::text(
                "command",
                cells("make -C somewhere all install check and much more of it"),
            ),
            Column::new("voluntary-switches", 0, cells("12 345 ± 12")),
            Column::new("involuntary-switches", 0, cells("1 ± 1")),
            Column::new("minor-faults", 0, cells("1 ± 1")),
            Column::new("major-faults", 0, cells("")),
        ];
        let text = in_blocks(1, &columns, look(80));
        assert!(text.lines().all(|l| shown_width(l) <= 80), "{text}");
        let titles = ["voluntary-switches", "involuntary-switches", "minor-faults"];
        assert!(
            titles.iter().all(|title| text.contains(title)),
            "no header is broken: {text}"
        );
        assert!(text.matches("command").count() == 2, "{text}");
        assert_lacks!(text, "major");
        assert_eq!(
            in_blocks(1, &columns, Look::new(Some(80), true))
                .matches("command")
                .count(),
            1
        );
    }

    #[test]
    fn columns_of_low_rank_go_first_and_the_text_stays() {
        let columns = |verdict: &str| {
            let cells = |text: &str| vec![text.to_owned()].into_iter();
            vec![
                Column::new("variant", 0, cells("lfence-rdtsc-dependent-load")),
                Column::new("median", 0, cells("12.345")),
                Column::new("n", 2, cells("1234567890")),
                Column::new("kind", 1, cells("throughput")),
                Column::text("against others", cells(verdict)),
            ]
        };
        let verdict = "1.30× something-long: slower than it should be, busy 2.1";
        let wide = fitted(columns(verdict), look(100));
        let narrow = fitted(columns(verdict), look(80));
        assert_says!(wide, "throughput", "1234567890");
        assert_says!(narrow, "throughput");
        assert_lacks!(narrow, "1234567890");
        for (text, most) in [(&wide, 100), (&narrow, 80)] {
            assert!(text.lines().all(|l| shown_width(l) <= most), "{text}");
            assert_says!(text, "busy 2.1", "12.345");
        }
        // What is free is the last column's: this text fits beside the others in a hundred columns.
        assert!(wide.contains(&verdict[..30]) && wide.lines().count() <= 3, "{wide}");
        // The twin: without a limit the lines are as long as their cells.
        let all = fitted(columns(&verdict.repeat(3)), Look::new(Some(80), true));
        assert!(all.lines().any(|l| shown_width(l) > 100), "{all}");
    }
}
