//! The command's error: one line for the user, and an exit status.

use std::fmt;

/// Exit status of a failed command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// A check or a measured command failed.
    CheckFailed = 1,
    /// Usage error: a bad argument or a bad input file.
    Usage = 2,
    /// This machine does not support it.
    Unsupported = 3,
}

/// A failure that ends the command with one line on stderr.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The exit status.
    pub status: Status,
    /// One line: what failed, the evidence, and what to do.
    pub message: String,
    /// Whether it can succeed on this machine: false if the machine lacks something, true if something went wrong.
    pub possible: bool,
}

impl Error {
    /// A usage error (exit 2).
    pub fn usage(message: impl Into<String>) -> Self {
        Self {
            status: Status::Usage,
            message: message.into(),
            possible: true,
        }
    }

    /// Not supported on this machine (exit 3).
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self {
            status: Status::Unsupported,
            message: message.into(),
            possible: false,
        }
    }

    /// A failed check (exit 1).
    pub fn check(message: impl Into<String>) -> Self {
        Self {
            status: Status::CheckFailed,
            message: message.into(),
            possible: true,
        }
    }

    /// Replaces control characters, so that text quoted from a file cannot break the line or control the terminal.
    #[must_use]
    pub fn in_one_line(mut self) -> Self {
        self.message = self.message.replace(is_control, " ");
        self
    }

    /// A failed system call (exit 3): what was tried, the system's error, and what to do.
    pub fn system(what: &str, cause: &std::io::Error, hint: &str) -> Self {
        Self {
            possible: !is_lacking(cause),
            ..Self::unsupported(format!("{what}: {cause}; {hint}"))
        }
    }
}

/// Whether a call failed because the kernel lacks it or forbids it, and not because something ran out.
fn is_lacking(cause: &std::io::Error) -> bool {
    use std::io::ErrorKind::{NotFound, PermissionDenied, Unsupported};
    matches!(cause.kind(), NotFound | PermissionDenied | Unsupported)
}

/// Whether a character changes how those around it are shown: a control, a separator of lines, or one that changes the direction
/// of text, so that a name is read as another.
pub fn is_control(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// `Result` with the command's error.
pub type Result<T> = std::result::Result<T, Error>;

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    #[test]
    fn what_is_quoted_neither_ends_the_line_nor_turns_it_round() {
        let quoted = Error::usage("a\n\u{1b}[2J\u{202e}\u{2066}b").in_one_line();
        assert_eq!(quoted.message, "a  [2J  b");
    }

    #[test]
    fn what_ran_out_could_succeed_and_what_is_lacking_could_not() {
        let of = |errno| Error::system("a call", &io::Error::from_raw_os_error(errno), "do this");
        for errno in [libc::EAGAIN, libc::EMFILE, libc::ENOMEM] {
            assert!(of(errno).possible, "{errno}");
        }
        for errno in [libc::ENOSYS, libc::EPERM, libc::EACCES, libc::ENOENT] {
            assert!(!of(errno).possible, "{errno}");
        }
        assert!(!Error::unsupported("no such instruction").possible && Error::check("a wrong sum").possible);
    }
}
