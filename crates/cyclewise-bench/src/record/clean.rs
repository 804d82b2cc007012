//! Control characters in a document that is read: they could move a terminal's cursor or change its colours.
//!
//! JSON has them as escapes only, but for DEL and the second set of controls. A look at the text tells whether there may be any,
//! and a document without them, which is every usual one, is parsed once.

pub use crate::error::is_control;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Parses a document; control characters in its strings become spaces, but for newlines and tabs, which commands may have.
///
/// # Errors
/// The text does not follow the type.
pub fn parse<T: DeserializeOwned>(text: &str) -> serde_json::Result<T> {
    if !may_have_controls(text) {
        return serde_json::from_str(text);
    }
    let mut value: Value = serde_json::from_str(text)?;
    clean(&mut value);
    // Read again as text, so that no document is compiled for two readers.
    serde_json::from_str(&value.to_string())
}

/// Whether a string of the document may have a control character.
fn may_have_controls(text: &str) -> bool {
    let is_escape = |after: &str| {
        let code = after.get(..5).unwrap_or(after);
        // Letters, codes below U+0100, and those that may change the direction of text.
        matches!(code.as_bytes().first(), Some(b'b' | b'f' | b'r'))
            || code.starts_with("u00")
            || code.starts_with("u20")
    };
    text.match_indices('\\').any(|(at, _)| is_escape(&text[at + 1..]))
        || text.contains(|c: char| c >= '\u{7f}' && is_control(c))
}

fn clean(value: &mut Value) {
    match value {
        Value::String(text) => *text = cleaned(text),
        Value::Array(items) => items.iter_mut().for_each(clean),
        Value::Object(fields) => {
            let old = std::mem::take(fields);
            fields.extend(old.into_iter().map(|(name, mut value)| {
                clean(&mut value);
                (cleaned(&name), value)
            }));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn cleaned(text: &str) -> String {
    text.replace(|c: char| is_control(c) && c != '\n' && c != '\t', " ")
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
        }
    }

    #[test]
    fn a_usual_document_is_read_as_it_is() {
        let text = r#"{"a":["make \"x\"\n\tü \u2192 C:\\Users \u00b5s"],"b":["é"]}"#;
        let read: Strings = parse(text).unwrap();
        assert_eq!(read, serde_json::from_str::<Strings>(text).unwrap());
        assert!(!may_have_controls(r#"{"a": "\n\t\"\\ \u2192 \/"}"#));
        let exact: Vec<f64> = parse(r#"[0.1, 1e-7, 2399987654.0000005, "\u001b"]"#).unwrap_or_default();
        assert!(exact.is_empty(), "a text among numbers is refused as always");
        let figures = r#"{"\r": [0.30000000000000004, 1.7976931348623157e308, 5e-324]}"#;
        let read: BTreeMap<String, Vec<f64>> = parse(figures).unwrap();
        assert_eq!(read[" "], [0.1 + 0.2, f64::MAX, 5e-324]);
    }
}
