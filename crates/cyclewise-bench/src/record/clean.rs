//! Control characters in a text of others: they could move a terminal's cursor or change its colours. One rule for documents that are
//! read, for what is measured here, whose names are a user's, and for lines on stderr.
//!
//! JSON has them as escapes only, but for DEL, the second set of controls and those that change the direction of text. They are replaced
//! in the document's text before it is parsed, so that a document takes no more memory than its text does twice.

use super::Experiment;
pub use crate::error::is_control;
use serde::de::DeserializeOwned;
use std::borrow::Cow;

/// Parses a document; control characters in its strings become spaces, but for newlines and tabs, which commands may have.
pub fn parse<T: DeserializeOwned>(text: &str) -> serde_json::Result<T> {
    serde_json::from_str(&without_controls(text, true))
}

/// Parses a document whose strings are all shown in lines: newlines and tabs become spaces, too.
pub fn parse_in_lines<T: DeserializeOwned>(text: &str) -> serde_json::Result<T> {
    serde_json::from_str(&without_controls(text, false))
}

/// The text of a document with a space for each control character.
fn without_controls(text: &str, keeps_lines: bool) -> Cow<'_, str> {
    // A backslash, DEL, and what the other controls of UTF-8 begin with.
    let may_be = |byte: &u8| matches!(byte, b'\\' | 0x7f | 0xc2 | 0xe2);
    let is_kept = |c: char| !is_control(c) || keeps_lines && matches!(c, '\n' | '\t');
    let (mut clean, mut rest) = (String::new(), text);
    while let Some(at) = rest.as_bytes().iter().position(may_be) {
        let found = &rest[at..];
        let mut characters = found.chars();
        let is_kept = match (characters.next(), found.as_bytes().get(1)) {
            (Some('\\'), Some(escape)) => {
                characters.next();
                match escape {
                    b'b' | b'f' | b'r' => false,
                    b'n' | b't' => keeps_lines,
                    b'u' => {
                        let code = found.get(2..6).unwrap_or_default();
                        characters = found[2 + code.len()..].chars();
                        let of_code = u32::from_str_radix(code, 16).ok().and_then(char::from_u32);
                        of_code.is_none_or(is_kept)
                    }
                    _ => true,
                }
            }
            (c, _) => c.is_none_or(is_kept),
        };
        clean.push_str(&rest[..at]);
        rest = characters.as_str();
        clean.push_str(if is_kept {
            &found[..found.len() - rest.len()]
        } else {
            " "
        });
    }
    match clean.is_empty() {
        true => Cow::Borrowed(text),
        false => Cow::Owned(clean + rest),
    }
}

/// A text whose control characters are spaces, but for newlines and tabs.
pub fn cleaned(text: &str) -> String {
    text.replace(|c: char| is_control(c) && c != '\n' && c != '\t', " ")
}

/// Cleans what an experiment has from its user, as if it had been read from a record: names of rows, and notes.
pub fn experiment(e: &mut Experiment) {
    let rows = e.variants.iter_mut().map(|v| &mut v.name);
    let compared = e.comparisons.iter_mut().flat_map(|c| [&mut c.a, &mut c.b]);
    let control = e.control.iter_mut().map(|c| &mut c.of);
    for text in rows.chain(compared).chain(control).chain(&mut e.notes) {
        *text = cleaned(text);
    }
}

/// Lines that [`last_lines`] shows.
const LINES: usize = 10;

/// Characters of a line that it shows: ten such lines are half a terminal.
const OF_LINE: usize = 160;

/// The last lines of a program's output, each indented in a new line, with escapes for control characters; of long lines the end.
pub fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let mut shown = String::new();
    for line in &lines[lines.len().saturating_sub(LINES)..] {
        // What clears a screen or moves a cursor must not do so here.
        let escaped = |c: char| match is_control(c) && c != '\t' {
            true => c.escape_default().to_string(),
            false => c.to_string(),
        };
        let (mut end, mut width) = (Vec::new(), 0);
        let mut characters = line.chars().rev().map(escaped);
        let is_cut = loop {
            match characters.next() {
                Some(c) if width + c.chars().count() <= OF_LINE => {
                    width += c.chars().count();
                    end.push(c);
                }
                more => break more.is_some(),
            }
        };
        end.extend(is_cut.then(|| "…".to_string()));
        shown.push_str("\n    ");
        shown.extend(end.into_iter().rev());
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    type Strings = BTreeMap<String, Vec<String>>;

    #[test]
    fn every_way_to_write_a_control_character_is_found() {
        for written in [
            r"\u001b[2J",
            r"\u001B[2J",
            r"\b",
            r"\f",
            r"\r",
            r"\u0000",
            r"\u007f",
            r"\u009b2J",
            "\u{7f}",
            "\u{9b}2J",
            r"\\\u001b",
            r"\u202e",
            r"\u2066",
            "\u{2028}",
            "\u{2069}",
        ] {
            let text = format!(r#"{{"a{written}":["x{written}y"]}}"#);
            let dirty: Strings = serde_json::from_str(&text).unwrap();
            let has = |strings: &Strings| {
                strings
                    .iter()
                    .any(|(k, v)| k.contains(is_control) && v[0].contains(is_control))
            };
            // The twin, without the look.
            assert!(has(&dirty), "{written}");
            let read: Strings = parse(&text).unwrap();
            assert!(
                !has(&read) && read.keys().all(|k| k.starts_with('a')),
                "{written}: {read:?}"
            );
            assert_eq!(parse_in_lines::<Strings>(&text).unwrap(), read);
        }
    }

    #[test]
    fn what_was_measured_here_is_as_clean_as_what_is_read() {
        use crate::record::{Comparison, Variant};
        let dirty = "a\u{1b}[2J\rb\u{9b}2J";
        let mut e = Experiment {
            variants: vec![Variant {
                name: dirty.to_string(),
                ..Variant::default()
            }],
            comparisons: vec![Comparison {
                b: dirty.to_string(),
                ..Comparison::default()
            }],
            notes: vec![dirty.to_string()],
            ..Experiment::default()
        };
        let text = serde_json::to_string(&e).unwrap();
        experiment(&mut e);
        assert_eq!(e.variants[0].name, "a [2J b 2J");
        assert_eq!(e, parse::<Experiment>(&text).unwrap());
        assert_ne!(e, serde_json::from_str(&text).unwrap(), "the twin, without a look");
    }

    #[test]
    fn the_last_lines_are_short_whatever_a_program_printed() {
        let nuls = format!("first\n{}reason\n", "\0".repeat(100_000));
        let shown = last_lines(&nuls);
        assert!(
            shown.starts_with("\n    first\n    …\\u{0}") && shown.ends_with("reason"),
            "{shown}"
        );
        assert!(shown.chars().count() < 200, "{}", shown.len());
        let many: String = (0..50).map(|i| format!("line {i}\n")).collect();
        assert!(last_lines(&many).starts_with("\n    line 40\n") && !last_lines(&many).contains('…'));
        assert_eq!(last_lines("\u{1b}[2J\tü\r"), "\n    \\u{1b}[2J\tü");
        assert_eq!(last_lines(&"ü".repeat(80)), format!("\n    {}", "ü".repeat(80)));
    }

    #[test]
    fn a_usual_document_is_read_as_it_is() {
        let text = r#"{"a":["make \"x\"\n\tü \u2192 C:\\Users \u00b5s"],"b":["é"]}"#;
        let read: Strings = parse(text).unwrap();
        assert_eq!(read, serde_json::from_str::<Strings>(text).unwrap());
        assert_eq!(without_controls(text, true), text);
        let in_lines: Strings = parse_in_lines(text).unwrap();
        assert_eq!(in_lines["a"], ["make \"x\"  ü \u{2192} C:\\Users \u{b5}s"]);
        let exact: Vec<f64> = parse(r#"[0.1, 1e-7, 2399987654.0000005, "\u001b"]"#).unwrap_or_default();
        assert!(exact.is_empty(), "a text among numbers is refused as always");
        let figures = r#"{"\r": [0.30000000000000004, 1.7976931348623157e308, 5e-324]}"#;
        let read: BTreeMap<String, Vec<f64>> = parse(figures).unwrap();
        assert_eq!(read[" "], [0.1 + 0.2, f64::MAX, 5e-324]);
    }
}
