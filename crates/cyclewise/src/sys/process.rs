//! The process: its id, and its end.
//!
//! # Safety
//! 1. abort(3), getpid(2) and write(2) are async-signal-safe; the first two take nothing.
#![expect(unsafe_code, reason = "abort, getpid, write")]

use super::cancellation::held_off;
use core::fmt::{self, Write};

/// Ends the process with SIGABRT, and writes `why` to its standard error, as far as that can be written.
pub(crate) fn abort_saying(why: &[u8]) -> ! {
    // SAFETY: reads as many bytes as there are.
    held_off(|| unsafe { libc::write(libc::STDERR_FILENO, why.as_ptr().cast(), why.len()) });
    abort()
}

/// Writes `what`, cut to 512 bytes, to standard error: without memory, and in a signal handler.
pub(crate) fn say(what: fmt::Arguments<'_>) {
    let mut line = Line {
        bytes: [0; 512],
        used: 0,
    };
    // An error is a line that does not fit.
    let _ = line.write_fmt(what);
    // SAFETY: reads as many bytes as were written.
    held_off(|| unsafe { libc::write(libc::STDERR_FILENO, line.bytes.as_ptr().cast(), line.used) });
}

struct Line {
    bytes: [u8; 512],
    used: usize,
}

impl fmt::Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = &mut self.bytes[self.used..];
        let fits = text.len().min(room.len());
        room[..fits].copy_from_slice(&text.as_bytes()[..fits]);
        self.used += fits;
        if fits == text.len() { Ok(()) } else { Err(fmt::Error) }
    }
}

/// Ends the process with SIGABRT.
pub(crate) fn abort() -> ! {
    // SAFETY: Invariant 1.
    unsafe { libc::abort() }
}

/// The pid, which a child of fork does not share; a system call.
pub(crate) fn id() -> u32 {
    // SAFETY: Invariant 1.
    unsafe { libc::getpid() }.cast_unsigned()
}
