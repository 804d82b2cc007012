//! Columns that are aligned by what a terminal shows of their cells, and broken into lines where they have no room.

use anstyle::Style;
use std::fmt;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A heading and rows of cells, which may have colour codes and several lines.
pub(super) struct Table {
    /// The first is the heading.
    rows: Vec<Vec<String>>,
    columns: Vec<Shape>,
    /// Spaces behind a cell; before it there is one.
    pub(super) behind: usize,
}

#[derive(Clone, Copy)]
struct Shape {
    is_right: bool,
    /// The most characters of a line.
    most: usize,
}

impl Table {
    /// The first `words` columns are left-aligned words, and the others right-aligned numbers.
    pub(super) fn new(header: &[&str], rows: impl Iterator<Item = Vec<String>>, words: usize) -> Self {
        let shape = |i| Shape {
            is_right: i >= words,
            most: usize::MAX,
        };
        let dim = Style::new().dimmed();
        let heading = header.iter().map(|h| format!("{dim}{h}{dim:#}")).collect();
        Self {
            rows: std::iter::once(heading).chain(rows).collect(),
            columns: (0..header.len()).map(shape).collect(),
            behind: 1,
        }
    }

    /// Breaks a column's cells into lines, so that it takes at most `columns` of the terminal.
    pub(super) fn limit(&mut self, column: usize, columns: usize) {
        self.columns[column].most = columns.saturating_sub(1 + self.behind).max(1);
    }

    /// The same, for a column of text, which is left-aligned.
    pub(super) fn text(&mut self, column: usize, columns: usize) {
        self.columns[column].is_right = false;
        self.limit(column, columns);
    }

    /// Breaks the widest columns as far as the table needs to take at most `columns` of the terminal.
    pub(super) fn fit(mut self, columns: usize) -> Self {
        let width = |i| self.width(i) + 1 + self.behind;
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let mut narrow = widths.clone();
        narrow.sort_unstable();
        // What takes less than its share leaves the others more.
        let (mut room, mut open) = (columns, widths.len());
        for width in narrow {
            if width * open > room {
                break;
            }
            (room, open) = (room - width, open - 1);
        }
        let share = room / open.max(1);
        for (column, width) in widths.into_iter().enumerate() {
            if open > 0 && width > share {
                self.limit(column, share);
            }
        }
        self
    }

    /// The longest line of a column's cells.
    fn width(&self, column: usize) -> usize {
        let lines = self.rows.iter().flat_map(|row| row[column].lines());
        lines.map(shown_width).max().unwrap_or(0)
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let broken = |row: &Vec<String>| -> Vec<Vec<String>> {
            let cells = row.iter().zip(&self.columns);
            cells
                .map(|(cell, column)| cell.lines().flat_map(|line| lines(line, column.most)).collect())
                .collect()
        };
        let rows: Vec<_> = self.rows.iter().map(broken).collect();
        let width = |i: usize| rows.iter().flat_map(|row| &row[i]).map(|line| shown_width(line)).max();
        let widths: Vec<_> = (0..self.columns.len()).map(|i| width(i).unwrap_or(0)).collect();
        let mut before = "";
        for row in &rows {
            for at in 0..row.iter().map(Vec::len).max().unwrap_or(0).max(1) {
                let mut line = String::new();
                for ((cell, column), width) in row.iter().zip(&self.columns).zip(&widths) {
                    let shown = cell.get(at).map_or("", String::as_str);
                    let free = " ".repeat(width - shown_width(shown));
                    let (left, right) = if column.is_right { (&*free, "") } else { ("", &*free) };
                    line += &format!(" {left}{shown}{right}{}", " ".repeat(self.behind));
                }
                write!(f, "{before}{}", line.trim_end())?;
                before = "\n";
            }
        }
        Ok(())
    }
}

/// How many columns a terminal shows of a text with colour codes.
pub fn shown_width(text: &str) -> usize {
    anstream::adapter::strip_str(text).map(UnicodeWidthStr::width).sum()
}

/// What ends a colour.
const RESET: &str = "\x1b[0m";

/// Breaks a line at spaces, and words that are longer than a line anywhere. A colour that goes on begins again in the next line.
fn lines(text: &str, most: usize) -> Vec<String> {
    let mut done = Vec::new();
    let (mut line, mut used) = (String::new(), 0);
    let mut end = |line: &mut String, used: &mut usize| {
        let open = colours(line);
        if !open.is_empty() {
            *line += RESET;
        }
        done.push(std::mem::replace(line, open));
        *used = 0;
    };
    for (i, word) in text.split(' ').enumerate() {
        let width = shown_width(word);
        if i > 0 && used + 1 + width <= most {
            line.push(' ');
            used += 1;
        } else if used > 0 {
            end(&mut line, &mut used);
        }
        let mut is_code = false;
        for c in word.chars() {
            is_code |= c == '\x1b';
            if !is_code {
                let width = c.width().unwrap_or(0);
                if used > 0 && used + width > most {
                    end(&mut line, &mut used);
                }
                used += width;
            }
            is_code &= c != 'm';
            line.push(c);
        }
    }
    done.push(line);
    done
}

/// The codes of the colours in force at the end of a line.
fn colours(line: &str) -> String {
    let after = line.rsplit(RESET).next().unwrap_or_default();
    let codes = after.split('\x1b').skip(1).filter_map(|code| code.split_once('m'));
    codes.map(|(code, _)| format!("\x1b{code}m")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_left_and_numbers_right_by_what_is_shown() {
        let rows = [
            vec!["\u{1b}[2mä漢\u{1b}[0m".to_owned(), "1".to_owned()],
            vec!["bc".to_owned(), "23".to_owned()],
        ];
        let text = Table::new(&["", "n"], rows.into_iter(), 1).to_string();
        let plain = anstream::adapter::strip_str(&text).to_string();
        assert_eq!(plain, "       n\n ä漢   1\n bc   23");
    }

    #[test]
    fn a_text_is_broken_at_spaces_and_a_long_word_anywhere() {
        assert_eq!(lines("one two three", 7), ["one two", "three"]);
        assert_eq!(lines("a/very/long/path x", 6), ["a/very", "/long/", "path x"]);
        assert_eq!(lines("", 3), [""]);
        let rows = [vec!["word ".repeat(30), "text ".repeat(30), "short".to_owned()]];
        let text = Table::new(&["a", "b", "c"], rows.into_iter(), 3).fit(60).to_string();
        assert!(text.lines().all(|line| shown_width(line) <= 60), "{text}");
        assert_eq!(
            text.matches("word").count() + text.matches("text").count(),
            60,
            "{text}"
        );
        // The twin: wide, it is as long as its cells.
        let wide = Table::new(&["a"], [vec!["word ".repeat(30)]].into_iter(), 1).fit(usize::MAX);
        assert!(wide.to_string().lines().any(|line| shown_width(line) > 60));
    }

    /// The twin of a colour that runs into the column beside it.
    #[test]
    fn a_colour_ends_with_its_line_and_begins_again_in_the_next() {
        let broken = lines("\u{1b}[1m\u{1b}[31mone two\u{1b}[0m three", 5);
        assert_eq!(
            broken,
            [
                "\u{1b}[1m\u{1b}[31mone\u{1b}[0m",
                "\u{1b}[1m\u{1b}[31mtwo\u{1b}[0m",
                "three"
            ]
        );
    }
}
