//! The package's one error type: a line, and of what kind the failure is.

use std::fmt;
use std::path::Path;

/// What failed, how we know, and what to do, in one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Of what kind.
    pub kind: Kind,
    /// The line.
    pub message: String,
}

/// Kinds of failure, which become exit statuses of the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Wrong use: no such program, a wrong architecture.
    Usage,
    /// This machine cannot do it: no emulator, no space.
    Unsupported,
}

/// What most functions return.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Wrong use.
    pub fn usage(message: impl Into<String>) -> Self {
        Self {
            kind: Kind::Usage,
            message: message.into(),
        }
    }

    /// No room, or no right to write.
    pub(crate) fn cannot_write(what: &Path, error: &std::io::Error) -> Self {
        Self::unsupported(format!(
            "cannot write {}: {error}; make room there, or set TMPDIR to another folder",
            what.display()
        ))
    }

    /// This machine cannot do it.
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self {
            kind: Kind::Unsupported,
            message: message.into(),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
