//! Machine files: TOML to [`Machine`], with every mistake named by file, line and column in one line.
//!
//! # Invariants
//! 1. A `Machine` that comes out of here fulfils every rule of `validate.rs`.
//! 2. No text makes it panic: what is not a machine is a [`ParseError`].

use super::Machine;
use super::validate::{self, Fault};
use std::fmt;
use std::ops::Range;
use toml::de::{DeTable, DeValue};

/// What is wrong with a machine file, where, and how to mend it.
///
/// It is shown in one line: `file:line:column: what is wrong; how to mend it`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The file's name, as the caller gave it.
    pub file: String,
    /// Where in it, from 1.
    pub line: usize,
    /// Which character of the line, from 1.
    pub column: usize,
    /// What is wrong.
    pub what: String,
    /// How to mend it.
    pub mend: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            file,
            line,
            column,
            what,
            mend,
        } = self;
        write!(f, "{file}:{line}:{column}: {what}; {mend}")
    }
}

impl std::error::Error for ParseError {}

impl Machine {
    /// Reads a machine file. `file` is its name, for errors.
    ///
    /// # Errors
    /// The first mistake in it: not TOML, a key that is not known or missing, a wrong type, a value out of its range.
    pub fn parse(text: &str, file: &str) -> Result<Self, ParseError> {
        let machine: Self = toml::from_str(text).map_err(|error| from_toml(&error, text, file))?;
        match validate::check(&machine) {
            Ok(()) => Ok(machine),
            Err(fault) => Err(from_fault(fault, text, file)),
        }
    }

    /// Writes a machine file that [`Machine::parse`] reads back as this machine.
    ///
    /// # Errors
    /// Where this is not a machine that a file can hold; the place named is in the text that it would have been.
    pub fn to_toml(&self) -> Result<String, ParseError> {
        let text = toml::to_string_pretty(self).map_err(|error| ParseError {
            file: self.name.clone(),
            line: 1,
            column: 1,
            what: one_line(&error.to_string()),
            mend: "this machine cannot be written as TOML".to_owned(),
        })?;
        Self::parse(&text, &self.name)?;
        Ok(text)
    }
}

/// The laws that are more than a word or a number, and how each is written.
const FORMS: &[(&str, &str)] = &[
    (
        "arbiter",
        r#""fifo", "random", { batch = { stay = N } }, { nearest = { cap = { count = N } } } or { nearest = { cap = { cycles = N } } }"#,
    ),
    ("hold", HOLD),
    ("ll_hold", HOLD),
    ("rmw", r#""near" or { far = { cycles = N } }"#),
    ("home", r#""anywhere", { socket = N } or "interleaved""#),
    ("relax", r#""none", "pause" or { exponential = { max = N } }"#),
];

const HOLD: &str = r#""none", { fixed = { cycles = N } } or { adaptive = { cycles = N, up = N, down = N, max = N } }"#;

/// An error of the TOML reader, or of the types.
fn from_toml(error: &toml::de::Error, text: &str, file: &str) -> ParseError {
    let start = error.span().map_or(text.len(), |span| span.start);
    let (line, column) = position(text, start);
    let mut what = one_line(error.message());
    // Types as people call them, not as the program does.
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
    let mend = if let Some((_, form)) = form {
        if !what.starts_with("invalid value") {
            what = format!("this is not a law of `{key}`");
        }
        format!("write {form}")
    } else if what.starts_with("unknown field") {
        "remove the key, or mend its spelling".to_owned()
    } else if let Some(missing) = what.strip_prefix("missing field ") {
        format!("add {missing}; machines/README.md says what it means")
    } else if what.starts_with("unknown variant") {
        "write one of those".to_owned()
    } else if is_type {
        "machines/README.md has each key's unit and range".to_owned()
    } else {
        "mend the TOML here".to_owned()
    };
    ParseError {
        file: file.to_owned(),
        line,
        column,
        what,
        mend,
    }
}

/// A rule that is not kept, at the value that breaks it.
fn from_fault(fault: Fault, text: &str, file: &str) -> ParseError {
    let span = locate(text, &fault.key).unwrap_or(0..0);
    let (line, column) = position(text, span.start);
    ParseError {
        file: file.to_owned(),
        line,
        column,
        what: one_line(&format!("{}: {}", fault.key, fault.what)),
        mend: one_line(&fault.mend),
    }
}

/// Where the value of a dotted key is; of the last table on the way where the key itself is not written.
fn locate(text: &str, key: &str) -> Option<Range<usize>> {
    let document = DeTable::parse(text).ok()?;
    let mut span = None;
    let mut table = document.get_ref();
    for part in key.split('.') {
        // `published.2.value` is the third of an array of tables.
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

/// One line of readable text, whatever was in the file.
fn one_line(text: &str) -> String {
    const LONGEST: usize = 400;
    let mut line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if let Some((end, _)) = line.char_indices().nth(LONGEST) {
        line.truncate(end);
        line.push('…');
    }
    line
}
