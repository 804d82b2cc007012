//! A table for the template: headings with units, and rows of cells.
#![allow(
    missing_docs,
    reason = "for the pages of this workspace; what a name does not say is documented"
)]

use super::pieces::{Piece, pieces};
use super::words::sign;
use crate::export::number::NONE;
use crate::record::Verdict;

/// A column's heading.
pub struct Column {
    pub title: String,
    /// The unit below it; empty if the figures have none.
    pub unit: String,
    /// Words are left-aligned, numbers right-aligned.
    pub words: bool,
}

pub struct Cell {
    pub text: String,
    /// A smaller second line; may be empty.
    pub detail: String,
    /// The CSS classes.
    pub class: &'static str,
    /// A sign before the text, hidden from screen readers; may be empty.
    pub sign: &'static str,
}

/// A table whose first column names its rows.
pub struct Table {
    pub caption: String,
    pub columns: Vec<Column>,
    pub rows: Vec<Vec<Cell>>,
}

impl Table {
    pub fn new(caption: impl Into<String>) -> Self {
        Table {
            caption: caption.into(),
            columns: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// Adds a column of words.
    pub fn words(&mut self, title: &str) {
        self.column(title, "", true);
    }

    /// Adds a column of numbers.
    pub fn numbers(&mut self, title: &str, unit: &str) {
        self.column(title, unit, false);
    }

    fn column(&mut self, title: &str, unit: &str, words: bool) {
        self.columns.push(Column {
            title: title.to_owned(),
            unit: unit.to_owned(),
            words,
        });
    }
}

pub fn words(text: impl Into<String>) -> Cell {
    Cell {
        text: text.into(),
        detail: String::new(),
        class: "words",
        sign: "",
    }
}

pub fn number(text: impl Into<String>) -> Cell {
    Cell {
        class: "number",
        ..words(text)
    }
}

/// A number that may be missing.
pub fn maybe<T>(value: Option<T>, show: impl FnOnce(T) -> String) -> Cell {
    number(value.map_or_else(|| NONE.to_owned(), show))
}

/// A verdict: a sign, a word and a colour.
pub fn verdict(v: Verdict) -> Cell {
    Cell {
        class: match v {
            Verdict::Faster => "words verdict faster",
            Verdict::Slower => "words verdict slower",
            Verdict::Same => "words verdict same",
            Verdict::Undecided => "words verdict undecided",
            Verdict::None => "words verdict none",
            Verdict::Depends => "words verdict depends",
        },
        sign: sign(v),
        ..words(v.in_words())
    }
}

/// A longer text of several parts shows the first one only, until it is unfolded: else the other cells of its row are mostly empty.
const FOLDED: usize = 160;

impl Cell {
    /// A text of many parts, folded behind the first one.
    pub fn folded(&self) -> Option<(Vec<Piece<'_>>, Vec<Piece<'_>>)> {
        let (first, more) = self
            .text
            .split_once("; ")
            .filter(|_| self.text.chars().count() > FOLDED)?;
        Some((pieces(first), pieces(more)))
    }

    /// The class of a sentence, or of several, whose column has to be wide.
    pub fn length(&self) -> &'static str {
        match self.text.chars().count().max(self.detail.chars().count()) {
            _ if self.class == "number" => "",
            0..=40 => "",
            41..=160 => " long",
            _ => " longer",
        }
    }

    /// The text in the pieces between which a line may end. A number is one.
    pub fn pieces(&self) -> Vec<Piece<'_>> {
        match self.class {
            "number" => vec![Piece {
                text: &self.text,
                is_whole: false,
            }],
            _ => pieces(&self.text),
        }
    }

    /// The same of the second line.
    pub fn detail_pieces(&self) -> Vec<Piece<'_>> {
        pieces(&self.detail)
    }

    /// Adds a smaller second line.
    pub fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = detail.into();
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_parts_are_folded_behind_the_first() {
        let parts = |n| words(vec!["a test: a figure"; n].join("; "));
        assert!(parts(4).folded().is_none() && words("x".repeat(500)).folded().is_none());
        let cell = parts(40);
        let (first, more) = cell.folded().unwrap();
        let text = |pieces: Vec<Piece<'_>>| pieces.iter().map(|piece| piece.text).collect::<String>();
        assert_eq!(text(first), "a test: a figure");
        assert_eq!(text(more).matches("a test").count(), 39);
    }

    #[test]
    fn the_longer_a_text_the_wider_its_column() {
        let length = |n| words("x".repeat(n)).length();
        assert_eq!([40, 41, 161].map(length), ["", " long", " longer"]);
        assert_eq!(words("").with_detail("x".repeat(41)).length(), " long");
        // A number stays on its line in any case.
        assert_eq!(number("1".repeat(41)).length(), "");
    }
}
