//! A function at an address, and a line in it.

use serde::{Deserialize, Serialize};

/// A function, and a line in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    /// Its name as it was written.
    pub function: String,
    /// The source file.
    pub file: Option<String>,
    /// The line.
    pub line: Option<u32>,
}

impl Frame {
    /// `function (file:line)`, as far as it is known.
    pub fn line_text(&self) -> String {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => format!("{} ({file}:{line})", self.function),
            (Some(file), None) => format!("{} ({file})", self.function),
            _ => self.function.clone(),
        }
    }
}
