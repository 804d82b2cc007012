//! The terminal's width.

use rustix::termios::tcgetwinsize;
use std::os::fd::AsFd;

/// The columns of the terminal that stdout is; `None` if it is none, or does not say.
pub fn columns() -> Option<u16> {
    columns_of(std::io::stdout())
}

/// The columns of the terminal that stderr is.
pub fn stderr_columns() -> Option<u16> {
    columns_of(std::io::stderr())
}

fn columns_of(stream: impl AsFd) -> Option<u16> {
    // Some terminals say 0.
    let size = tcgetwinsize(stream).ok()?;
    (size.ws_col > 0).then_some(size.ws_col)
}
