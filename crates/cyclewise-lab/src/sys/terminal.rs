//! The terminal's width.

use rustix::termios::tcgetwinsize;

/// The columns of the terminal that stdout is; `None` if it is none, or does not say.
pub(crate) fn columns() -> Option<u16> {
    // Some terminals say 0.
    let size = tcgetwinsize(std::io::stdout()).ok()?;
    (size.ws_col > 0).then_some(size.ws_col)
}
