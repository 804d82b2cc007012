//! An edit of the program's text, and what its caller tells the writer.
#![allow(dead_code, reason = "some builds patch no text")]

use crate::error::Refusal;
use core::sync::atomic::AtomicU8;

/// One edit of the program's text: at most 8 bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edit {
    /// The first byte.
    pub(crate) at: *mut u8,
    /// The number of bytes below that count.
    pub(crate) len: u8,
    /// The bytes expected there, unless `new` is there already.
    pub(crate) expect: [u8; 8],
    pub(crate) new: [u8; 8],
}

/// The state that a batch of edits changes, and its value once the batch is written.
#[derive(Clone, Copy)]
pub(crate) struct Goal {
    /// The state: a key's value, 0 or 1.
    pub(crate) state: &'static AtomicU8,
    pub(crate) value: bool,
}

/// What the caller knows about other threads.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Others {
    /// Unknown: ask the kernel.
    Asked,
    /// None can run code of this program, so no call is needed that a sandbox could refuse.
    None,
}

/// The refusal of a site that holds a byte which an edit does not expect.
pub(super) fn unexpected_byte(at: usize, found: u8) -> Refusal {
    /// INT3, which debuggers and uprobes write over an instruction's first byte.
    const BREAKPOINT: u8 = 0xcc;
    match found {
        BREAKPOINT => Refusal::Breakpoint { at },
        found => Refusal::UnexpectedByte { at, found },
    }
}
