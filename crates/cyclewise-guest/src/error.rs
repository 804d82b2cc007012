//! The package's one error type: a line, and of what kind the failure is.

use std::fmt;

/// What failed, how we know, and what to do, in one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Of what kind.
    pub kind: ErrorKind,
    /// The line.
    pub message: String,
}

/// Kinds of failure, which become exit statuses of the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// Wrong use: a payload that does not fit.
    Usage,
    /// This machine cannot do it: no device, no permission, no such capability.
    Unsupported,
    /// It can, and something went wrong: a fault, a vCPU that vanished.
    Failed,
    /// A signal asked to end.
    Interrupted,
}

/// What most functions return.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Wrong use.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, message)
    }

    /// This machine cannot do it.
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unsupported, message)
    }

    /// Something went wrong.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Failed, message)
    }

    /// A signal asked to end.
    pub fn interrupted() -> Self {
        Self::new(ErrorKind::Interrupted, "interrupted")
    }

    fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
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
