//! JSON: records, and whatever else is serialized.

use crate::error::{Error, Result};
use crate::record::Record;
use serde::Serialize;

/// A record, in one line.
pub fn record(record: &Record) -> Result<String> {
    // Indented raw samples would be most of the file.
    let mut text = serde_json::to_string(record).map_err(failed)?;
    text.push('\n');
    Ok(text)
}

/// A value in one line.
pub fn text(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(failed)
}

/// Any document, as indented JSON.
pub fn pretty(document: &impl Serialize) -> Result<String> {
    let mut text = serde_json::to_string_pretty(document).map_err(failed)?;
    text.push('\n');
    Ok(text)
}

fn failed(e: serde_json::Error) -> Error {
    Error::check(format!(
        "a result could not be written as JSON: {e}; please report this"
    ))
}
