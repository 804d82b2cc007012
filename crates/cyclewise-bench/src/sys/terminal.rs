//! The terminal: its width, and whether there is one.

use rustix::termios::tcgetwinsize;
use std::os::fd::AsFd;

/// The columns of the terminal that stdout is, or those that COLUMNS says where it is none; `None` if neither does.
pub fn columns() -> Option<u16> {
    columns_of(std::io::stdout())
}

pub fn stderr_columns() -> Option<u16> {
    columns_of(std::io::stderr())
}

/// Whether this process has a controlling terminal, of which one process group is in the foreground.
pub fn is_controlled() -> bool {
    std::fs::File::open("/dev/tty").is_ok()
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
