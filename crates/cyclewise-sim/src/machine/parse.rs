//! Parses machine files: TOML to [`Machine`], with one-line errors that have file, line and column.
//!
//! # Invariants
//! 1. A parsed `Machine` obeys every rule of `validate.rs`.
//! 2. No text causes a panic: an invalid file is a [`ParseError`].

use super::Machine;
use super::validate::{self, Violation};
use std::fmt;
use std::ops::Range;
use toml::de::{DeTable, DeValue};

/// An error in a machine file.
///
/// Its text is one line: `file:line:column: what is wrong; how to fix it`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The file's name, as the caller gave it.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
    /// What is wrong.
    pub what: String,
    /// How to fix it.
    pub fix: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            file,
            line,
            column,
            what,
            fix,
        } = self;
        write!(f, "{file}:{line}:{column}: {what}; {fix}")
    }
}

impl std::error::Error for ParseError {}

impl Machine {
    /// Parses a machine file. `file` is its name in errors.
    ///
    /// # Errors
    /// The first error: invalid TOML, an unknown or missing key, a wrong type, a value out of range.
    pub fn parse(text: &str, file: &str) -> Result<Self, ParseError> {
        let machine: Self = toml::from_str(text).map_err(|error| from_toml(&error, text, file))?;
        match validate::check(&machine) {
            Ok(()) => Ok(machine),
            Err(violation) => Err(from_violation(violation, text, file)),
        }
    }

    /// Writes a machine file, which [`Machine::parse`] parses to this machine.
    ///
    /// # Errors
    /// If a rule of machine files is broken; line and column refer to the text that was generated.
    pub fn to_toml(&self) -> Result<String, ParseError> {
        let text = toml::to_string_pretty(self).map_err(|error| ParseError {
            file: self.name.clone(),
            line: 1,
            column: 1,
            what: one_line(&error.to_string()),
            fix: "this machine cannot be written as TOML".to_owned(),
        })?;
        Self::parse(&text, &self.name)?;
        Ok(text)
    }
}

/// How to write the laws that are not just a word or a number.
const FORMS: &[(&str, &str)] = &[
    (
        "arbiter",
        r#""fifo", "random", { batch = { stay = N } } or { nearest = { cap = N } }"#,
    ),
    ("hold", HOLD),
    ("ll_hold", HOLD),
    (
        "rmw",
        r#""near", { far = { cycles = N } } or { far = { cycles = N, only_posted = true } }"#,
    ),
    ("relax", r#""none", "pause" or { exponential = { max = N } }"#),
];

const HOLD: &str = r#""none" or { fixed = { cycles = N } }"#;

/// An error of the TOML parser or of the types.
fn from_toml(error: &toml::de::Error, text: &str, file: &str) -> ParseError {
    let start = error.span().map_or(text.len(), |span| span.start);
    let (line, column) = position(text, start);
    let mut what = one_line(error.message());
    // Replace Rust's type names.
    for (type_name, words) in [
        ("expected u32", "expected a whole number, 0 or more"),
        ("expected f64", "expected a number"),
    ] {
        if what.ends_with(type_name) {
            what.truncate(what.len() - type_name.len());
            what.push_str(words);
        }
    }
    let key = text
        .lines()
        .nth(line - 1)
        .and_then(|l| l.split('=').next())
        .map_or("", str::trim);
    let is_type = ["invalid type", "invalid value", "unknown variant", "unexpected keys"]
        .iter()
        .any(|beginning| what.starts_with(beginning));
    let form = FORMS.iter().find(|(name, _)| *name == key && is_type);
    let fix = if let Some((_, form)) = form {
        if !what.starts_with("invalid value") {
            what = format!("not a valid value of `{key}`");
        }
        format!("write {form}")
    } else if what.starts_with("unknown field") {
        "remove the key, or correct its spelling".to_owned()
    } else if let Some(missing) = what.strip_prefix("missing field ") {
        format!("add {missing}; see machines/README.md for its meaning")
    } else if what.starts_with("unknown variant") {
        "write one of those".to_owned()
    } else if is_type {
        "see machines/README.md for the unit and range".to_owned()
    } else {
        "correct the TOML here".to_owned()
    };
    ParseError {
        file: file.to_owned(),
        line,
        column,
        what,
        fix,
    }
}

/// The error of a broken rule, at the value that breaks it.
fn from_violation(violation: Violation, text: &str, file: &str) -> ParseError {
    let span = locate(text, &violation.key).unwrap_or(0..0);
    let (line, column) = position(text, span.start);
    ParseError {
        file: file.to_owned(),
        line,
        column,
        what: one_line(&format!("{}: {}", violation.key, violation.what)),
        fix: one_line(&violation.fix),
    }
}

/// The span of a dotted key's value, or of the last table on its path if the key is absent.
fn locate(text: &str, key: &str) -> Option<Range<usize>> {
    let document = DeTable::parse(text).ok()?;
    let mut span = None;
    let mut table = document.get_ref();
    for part in key.split('.') {
        // `published[2].value` is in the third of an array of tables.
        let (name, index) = match part.split_once('[') {
            Some((name, index)) => (name, index.trim_end_matches(']').parse::<usize>().ok()),
            None => (part, None),
        };
        let Some(mut value) = table.get(name) else {
            break;
        };
        if let (Some(index), DeValue::Array(array)) = (index, value.get_ref())
            && let Some(item) = array.get(index)
        {
            value = item;
        }
        span = Some(value.span());
        match value.get_ref() {
            DeValue::Table(inner) => table = inner,
            _ => break,
        }
    }
    span
}

/// Line and column of a byte, both from 1; the column counts characters.
fn position(text: &str, byte: usize) -> (usize, usize) {
    let mut at = byte.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let before = &text[..at];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (
        before.matches('\n').count() + 1,
        before[line_start..].chars().count() + 1,
    )
}

/// The text in one line, without control characters, and not too long.
fn one_line(text: &str) -> String {
    const LONGEST: usize = 400;
    // The latter change the direction of text, so that it is read as another.
    let is_control = |c: char| c.is_control() || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let mut line = text.replace(is_control, " ");
    if let Some((end, _)) = line.char_indices().nth(LONGEST) {
        line.truncate(end);
        line.push('…');
    }
    line
}
