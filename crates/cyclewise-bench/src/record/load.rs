//! Reading records. A truncated, foreign or newer file gives a one-line error.

use super::{Record, SCHEMA, clean};
use crate::error::{Error, Result};
use flate2::read::MultiGzDecoder;
use serde::Deserialize;
use std::io::{ErrorKind, Read};
use std::path::Path;

#[derive(Deserialize)]
struct Head {
    schema: Option<String>,
}

/// Reads the record at `path`.
///
/// # Errors
/// Exit 2: the file is unreadable, truncated, not JSON, not a record, or of a newer version.
pub fn load(path: &Path) -> Result<Record> {
    from_str(&path.display().to_string(), &read(path)?)
}

/// What a file in gzip's format begins with (RFC 1952, section 2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// What a packed text may unpack to, whatever its size.
const SMALL: u64 = 16 << 20;

/// What more it may unpack to for each of its bytes. Documents come to 20; the format can come to 1032.
const PER_BYTE: u64 = 100;

/// Reads the text of a file, compressed by gzip or not. It is read only once, so `path` may be a pipe.
///
/// # Errors
/// The file cannot be read, is cut off, is no UTF-8, or unpacks to more than a document does.
pub fn read_text(path: &Path) -> std::io::Result<String> {
    text_of(std::fs::read(path)?)
}

/// The text of a file with these bytes.
pub fn text_of(bytes: Vec<u8>) -> std::io::Result<String> {
    if !bytes.starts_with(&GZIP) {
        return String::from_utf8(bytes).map_err(|e| std::io::Error::new(ErrorKind::InvalidData, e.utf8_error()));
    }
    let most = SMALL + PER_BYTE * bytes.len() as u64;
    let mut text = String::new();
    MultiGzDecoder::new(&bytes[..])
        .take(most + 1)
        .read_to_string(&mut text)?;
    if text.len() as u64 > most {
        let why = format!("it unpacks to more than {most} bytes, which no document of its size does");
        return Err(std::io::Error::new(ErrorKind::InvalidData, why));
    }
    Ok(text)
}

/// Reads the text of a document as [`read_text`].
///
/// # Errors
/// Exit 2: the file is unreadable.
pub fn read(path: &Path) -> Result<String> {
    read_text(path).map_err(|e| {
        Error::usage(format!(
            "{}: {e}; give a file written by `cyclewise run --json` or `cyclewise simulate --json`",
            path.display()
        ))
    })
}

/// Parses a record; `name` is its name in errors.
///
/// # Errors
/// As [`load`].
pub fn from_str(name: &str, text: &str) -> Result<Record> {
    parse(name, text).map_err(Error::in_one_line)
}

fn parse(name: &str, text: &str) -> Result<Record> {
    check_schema(name, text, SCHEMA, "cyclewise run --json")?;
    let record: Record = clean::parse(text).map_err(|e| {
        Error::usage(format!(
            "{name} declares {SCHEMA} but does not follow it: {e}; write it again with `cyclewise run --json`"
        ))
    })?;
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
        assert!(error(r#"{"schema": "cyclewise.rec"#).contains("truncated"));
        assert!(error("").contains("truncated"));
    }

    #[test]
    fn a_foreign_file_says_so() {
        assert!(error("[1,2]").contains("not a JSON object"));
        assert!(error("{}").contains("no \"schema\""));
        assert!(error(r#"{"schema":"other/1"}"#).contains("other/1"));
        assert!(error(r#"{"schema":"cyclewise.record/1"}"#).contains("does not follow it"));
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
    fn a_compressed_document_is_read_and_a_cut_one_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.json.gz");
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut packer, b"{\"schema\": 1}").unwrap();
        let packed = packer.finish().unwrap();
        std::fs::write(&path, &packed).unwrap();
        assert_eq!(read(&path).unwrap(), "{\"schema\": 1}");
        std::fs::write(&path, &packed[..packed.len() - 9]).unwrap();
        let error = read(&path).unwrap_err();
        assert_eq!(error.status, crate::error::Status::Usage, "{}", error.message);
        assert!(error.message.contains("r.json.gz"), "{}", error.message);
    }

    #[test]
    fn a_file_that_unpacks_to_too_much_is_refused_and_no_more_is_read() {
        let packed = |mebibytes: usize| {
            let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            let zeros = [b'0'; 1 << 20];
            (0..mebibytes).for_each(|_| std::io::Write::write_all(&mut packer, &zeros).unwrap());
            packer.finish().unwrap()
        };
        assert_eq!(text_of(packed(16)).unwrap().len(), 16 << 20);
        let error = text_of(packed(64)).unwrap_err();
        assert!(error.to_string().contains("unpacks to more than"), "{error}");
    }

    #[test]
    fn a_newer_record_says_so() {
        assert!(error(r#"{"schema":"cyclewise.record/2"}"#).contains("newer cyclewise"));
    }
}
