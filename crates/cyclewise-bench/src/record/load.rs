//! Parsing records. A truncated, foreign or newer text gives a one-line error.

use super::{Record, SCHEMA, clean};
use crate::error::{Error, Result};
use serde::Deserialize;

#[derive(Deserialize)]
struct Head {
    schema: Option<String>,
}

/// Parses a record; `name` is its name in errors.
///
/// # Errors
/// Exit 2: the text is truncated, not JSON, not a record, or of a newer version.
pub fn from_str(name: &str, text: &str) -> Result<Record> {
    parse(name, text).map_err(Error::in_one_line)
}

fn parse(name: &str, text: &str) -> Result<Record> {
    let record = match clean::parse::<Record>(text) {
        Ok(record) if record.schema == SCHEMA => record,
        // Only to say why: it reads the whole text, too.
        other => {
            check_schema(name, text, SCHEMA, "cyclewise run --json")?;
            other.map_err(|e| {
                Error::usage(format!(
                    "{name} declares {SCHEMA} but does not follow it: {e}; write it again with `cyclewise run --json`"
                ))
            })?
        }
    };
    check(name, &record)?;
    Ok(record)
}

/// Rejects a text that is not JSON of `schema`; `by` is the command that writes it.
pub fn check_schema(name: &str, text: &str, schema: &str, by: &str) -> Result<()> {
    let head: Head = serde_json::from_str(text).map_err(|e| {
        let what = if e.is_eof() {
            "ends too early (truncated?)"
        } else {
            "is not a JSON object"
        };
        Error::usage(format!("{name} {what}: {e}; write it again with `{by}`"))
    })?;
    match head.schema.as_deref() {
        Some(found) if found == schema => Ok(()),
        Some(other) if is_newer(other, schema) => Err(Error::usage(format!(
            "{name} has schema {other}, but this build reads {schema}; use a newer cyclewise"
        ))),
        Some(other) => Err(Error::usage(format!(
            "{name} has schema {other:?}, not {schema}; it was not written by `{by}`"
        ))),
        None => Err(Error::usage(format!(
            "{name} has no \"schema\", so it is not a cyclewise record; write one with `{by}`"
        ))),
    }
}

/// The schema that a document declares; `None` if it is not a JSON object with one.
pub fn schema_of(text: &str) -> Option<String> {
    head_schema(text).ok()?
}

/// The schema that a JSON object declares; `None` if it declares none.
///
/// # Errors
/// The text is not a JSON object.
pub(super) fn head_schema(text: &str) -> serde_json::Result<Option<String>> {
    serde_json::from_str::<Head>(text).map(|head| head.schema)
}

pub(super) fn is_newer(found: &str, schema: &str) -> bool {
    let version = |schema: &str| {
        let (kind, version) = schema.split_once('/')?;
        Some((kind.to_owned(), version.parse::<u32>().ok()?))
    };
    let (Some((kind, version)), Some((known_kind, known))) = (version(found), version(schema)) else {
        return false;
    };
    kind == known_kind && version > known
}

/// Checks that counts match their samples, and that compared variants exist.
fn check(name: &str, record: &Record) -> Result<()> {
    for e in &record.experiments {
        for v in &e.variants {
            if v.n != v.samples.len() {
                return Err(Error::usage(format!(
                    "{name}: {}/{} has n = {} but contains {} samples; the file was modified after it was written",
                    e.name,
                    v.name,
                    v.n,
                    v.samples.len()
                )));
            }
        }
        for c in &e.comparisons {
            for side in [&c.a, &c.b] {
                if !e.variants.iter().any(|v| v.name == *side) {
                    return Err(Error::usage(format!(
                        "{name}: {} compares {side:?}, which it does not contain; the file was modified after it was written",
                        e.name
                    )));
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        from_str("r.json", text).unwrap_err().message
    }

    #[test]
    fn a_truncated_record_says_so() {
        assert_says!(error(r#"{"schema": "cyclewise.rec"#), "truncated");
        assert_says!(error(""), "truncated");
    }

    #[test]
    fn a_foreign_file_says_so() {
        assert_says!(error("[1,2]"), "not a JSON object");
        assert_says!(error("{}"), "no \"schema\"");
        assert_says!(error(r#"{"schema":"other/1"}"#), "other/1");
        assert_says!(error(r#"{"schema":"cyclewise.record/1"}"#), "does not follow it");
    }

    #[test]
    fn control_characters_in_a_file_do_not_reach_the_error() {
        let schema = error(r#"{"schema":"other\n\u001b[2J/1"}"#);
        let text = r#"{"schema":"cyclewise.record/1","created":"","tool":{"version":"","commit":null},"seed":0,
            "machine":5,"experiments":[]}"#;
        let unit = text.replace("5", r#"{"arch\u001b[2J\nb":1}"#);
        for message in [schema, error(&unit), error(&text.replace("5", r#""\u001b[31m\n""#))] {
            assert!(!message.contains(char::is_control), "{message:?}");
        }
    }

    #[test]
    fn a_newer_record_says_so() {
        assert_says!(error(r#"{"schema":"cyclewise.record/2"}"#), "newer cyclewise");
    }
}
