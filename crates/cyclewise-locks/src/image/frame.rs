//! A function at an address, and a line in it.

use serde::{Deserialize, Serialize};

/// A function, and a line in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Frame {
    /// Its name as it was written.
    pub function: String,
    pub file: Option<String>,
    pub line: Option<u32>,
}

/// Folders of sources that come with a compiler or a package manager: the code that is inlined into people's own.
const LIBRARIES: &[&str] = &[
    "/rustc/",
    "/rustlib/src/",
    "/library/core/src/",
    "/library/alloc/src/",
    "/library/std/src/",
    "/.cargo/registry/",
    "/include/c++/",
    "/usr/include/",
    "/lib/gcc/",
    "/go/src/",
];

impl Frame {
    /// Whether it is in sources that come with a compiler or a package manager.
    pub fn is_of_library(&self) -> bool {
        let file = self.file.as_deref();
        file.is_some_and(|file| LIBRARIES.iter().any(|library| file.contains(library)))
    }

    /// `function (file:line)`, as far as it is known.
    pub fn line_text(&self) -> String {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => format!("{} ({file}:{line})", self.function),
            (Some(file), None) => format!("{} ({file})", self.function),
            _ => self.function.clone(),
        }
    }
}
