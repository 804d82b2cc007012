//! The terminal's width.

use rustix::termios::tcgetwinsize;
use std::os::fd::AsFd;

/// The columns of the terminal that stdout is, or those that COLUMNS says where it is none; `None` if neither does.
pub fn columns() -> Option<u16> {
    columns_of(std::io::stdout())
}

/// The columns of the terminal that stderr is.
pub fn stderr_columns() -> Option<u16> {
    columns_of(std::io::stderr())
}

fn columns_of(stream: impl AsFd) -> Option<u16> {
    // Some terminals say 0.
    let of_terminal = tcgetwinsize(stream)
        .ok()
        .map(|size| size.ws_col)
        .filter(|columns| *columns > 0);
    of_terminal.or_else(|| {
        std::env::var("COLUMNS")
            .ok()?
            .parse()
            .ok()
            .filter(|columns| *columns > 0)
    })
}
