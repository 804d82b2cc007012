//! JSON: records, comparisons, lists.

use crate::error::{Error, Result};
use crate::experiment::Definition;
use crate::record::Record;
use serde::Serialize;

/// A record, as the schema promises it.
///
/// # Errors
/// None that a measured record can cause.
pub fn record(record: &Record) -> Result<String> {
    // One line: raw samples, indented, would be most of the file.
    let mut text = serde_json::to_string(record).map_err(failed)?;
    text.push('\n');
    Ok(text)
}

/// Any document, indented.
///
/// # Errors
/// None that a measured document can cause.
pub fn pretty(document: &impl Serialize) -> Result<String> {
    let mut text = serde_json::to_string_pretty(document).map_err(failed)?;
    text.push('\n');
    Ok(text)
}

#[derive(Serialize)]
struct Listed {
    name: &'static str,
    question: &'static str,
    source: &'static str,
    unit: &'static str,
}

/// The list of experiments.
///
/// # Errors
/// None.
pub fn experiments(all: &[&Definition]) -> Result<String> {
    let listed: Vec<Listed> = all
        .iter()
        .map(|d| Listed {
            name: d.name,
            question: d.question,
            source: d.source,
            unit: d.unit.as_str(),
        })
        .collect();
    pretty(&listed)
}

fn failed(e: serde_json::Error) -> Error {
    Error::check(format!(
        "a result could not be written as JSON: {e}; please report this"
    ))
}
