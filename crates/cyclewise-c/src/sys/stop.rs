//! Ends the process with a line on standard error, where going on would be undefined behaviour.
//!
//! # Safety
//! 1. write(2) reads as many bytes as it is told.
#![expect(unsafe_code, reason = "write")]

use super::cancellation::held_off;
use core::ffi::{c_int, c_void};

unsafe extern "C" {
    fn write(file: c_int, bytes: *const c_void, count: usize) -> isize;
}

const STDERR: c_int = 2;

/// Writes the line, and aborts. In a signal handler too.
#[cold]
pub(crate) fn stop(line: &[u8]) -> ! {
    // write(2) is a cancellation point: a cancelled thread would end there, and the process go on.
    held_off(|| {
        // SAFETY: the bytes of the line (Safety 1).
        unsafe { write(STDERR, line.as_ptr().cast(), line.len()) };
        std::process::abort();
    });
    unreachable!("an aborted process goes on");
}
