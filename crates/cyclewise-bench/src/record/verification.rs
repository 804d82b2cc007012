//! What `verify --json` writes, read back: the JSON schema `cyclewise.verify/1`.

use super::clean;
use super::doctor::MachineHead;
use super::load::check_schema;
use crate::error::{Error, Result};
use serde::Deserialize;

/// The schema this build writes.
pub const SCHEMA: &str = "cyclewise.verify/1";

/// The checks of one part on one machine.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct Verification {
    pub what: String,
    pub checks: Vec<Check>,
    /// When it ended, RFC 3339; empty in those of earlier versions.
    #[serde(default)]
    pub created: String,
    #[serde(default)]
    pub machine: MachineHead,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct Check {
    pub name: String,
    pub promise: String,
    /// The observation, with its count.
    pub seen: String,
    /// Whether the promise holds; `None`: that was not shown.
    pub holds: Option<bool>,
}

/// Parses a verification; `name` is its name in errors.
///
/// # Errors
/// Exit 2: the text is torn, not a verification, or of a newer version.
pub fn from_str(name: &str, text: &str) -> Result<Verification> {
    check_schema(name, text, SCHEMA, "cyclewise verify --json").map_err(Error::in_one_line)?;
    clean::parse_in_lines(text).map_err(|e| {
        let text = format!(
            "{name} declares {SCHEMA} but does not follow it: {e}; write it again with `cyclewise verify --json`"
        );
        Error::usage(text).in_one_line()
    })
}
