//! The one error type of the command: what failed, how we know, what to do; and the exit status it becomes.

use std::fmt;

/// What the command's exit status says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// A check failed, or a measured command did.
    CheckFailed = 1,
    /// Wrong use: a bad argument, or a file that is not what was asked for.
    Usage = 2,
    /// This machine cannot do it.
    Unsupported = 3,
}

/// A failure that ends the command with one line on stderr.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The exit status it becomes.
    pub status: Status,
    /// What failed and how we know, then what to do: one line.
    pub message: String,
}

impl Error {
    /// Wrong use (exit 2).
    pub fn usage(message: impl Into<String>) -> Self {
        Self {
            status: Status::Usage,
            message: message.into(),
        }
    }

    /// This machine cannot do it (exit 3).
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self {
            status: Status::Unsupported,
            message: message.into(),
        }
    }

    /// A check failed (exit 1).
    pub fn check(message: impl Into<String>) -> Self {
        Self {
            status: Status::CheckFailed,
            message: message.into(),
        }
    }

    /// The same, whatever was in a file that is quoted: no line of its own, and no control of a terminal.
    #[must_use]
    pub fn in_one_line(mut self) -> Self {
        self.message = self.message.replace(char::is_control, " ");
        self
    }

    /// A system call failed (exit 3): `what` was tried, the system said `cause`, the reader may do `hint`.
    pub fn system(what: &str, cause: &std::io::Error, hint: &str) -> Self {
        Self::unsupported(format!("{what}: {cause}; {hint}"))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// `Result` with the command's error.
pub type Result<T> = std::result::Result<T, Error>;
