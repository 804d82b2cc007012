//! The package's error is the tools' own: one line for the user, and an exit status.

pub use cyclewise_bench::error::{Error, Result, Status};

use std::path::Path;

/// No room, or no right to write.
pub(crate) fn cannot_write(what: &Path, error: &std::io::Error) -> Error {
    Error::unsupported(format!(
        "cannot write {}: {error}; make room there, or set TMPDIR to another folder",
        what.display()
    ))
}
