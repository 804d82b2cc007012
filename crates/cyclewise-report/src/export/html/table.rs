//! A table for the template: headings with units, and rows of cells.
#![allow(
    missing_docs,
    reason = "for the pages of this workspace; what a name does not say is documented"
)]

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

/// One cell.
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
    /// An empty table.
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

/// A cell of words.
pub fn words(text: impl Into<String>) -> Cell {
    Cell {
        text: text.into(),
        detail: String::new(),
        class: "words",
        sign: "",
    }
}

/// A cell with a number.
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

impl Cell {
    /// The text in the parts between which a line may end.
    pub fn parts(&self) -> Vec<&str> {
        breakable(&self.text)
    }

    /// The same of the second line.
    pub fn detail_parts(&self) -> Vec<&str> {
        breakable(&self.detail)
    }

    /// Adds a smaller second line.
    pub fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = detail.into();
        self
    }
}

/// Words of at most this many letters are not broken.
const SHORT_WORD: usize = 14;

/// The text in parts: names of functions and files, which have no spaces, may be broken after `::`, `/`, `_`, `<`, `(` and `,`, and before
/// a capital after a small letter.
fn breakable(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    for word in text
        .split_inclusive(' ')
        .filter(|word| word.chars().count() > SHORT_WORD)
    {
        let at = word.as_ptr().addr() - text.as_ptr().addr();
        let mut chars = word.char_indices().peekable();
        while let Some((i, c)) = chars.next() {
            let next = chars.peek().map(|(_, next)| *next);
            let may_end = |next: char| match c {
                ':' => next != ':' && word[..i].ends_with(':'),
                '/' | '_' | '<' | '(' | ',' => next != c && next != ' ',
                _ => c.is_lowercase() && next.is_uppercase(),
            };
            if next.is_some_and(may_end) {
                parts.push(&text[start..at + i + 1]);
                start = at + i + 1;
            }
        }
    }
    parts.push(&text[start..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_end_lines_where_their_words_do() {
        assert_eq!(
            breakable("./nptl/pthread_rwlock_common.c:254"),
            ["./", "nptl/", "pthread_", "rwlock_", "common.c:254"]
        );
        assert_eq!(
            breakable("v8::internal::HeapMap<A>"),
            ["v8::", "internal::", "Heap", "Map<", "A>"]
        );
        assert_eq!(breakable("a_b of c/d"), ["a_b of c/d"]);
        assert_eq!(
            breakable("in a_function_with_a_name, once").concat(),
            "in a_function_with_a_name, once"
        );
        assert_eq!(breakable(""), [""]);
    }
}
