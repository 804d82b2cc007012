//! The copy of a stretch of text that one pwrite writes.
//!
//! A static: a thread that leaves a mode may have a small stack. It takes no memory before the first change.
//!
//! # Safety
//! 1. Only the holder of the text lock uses it, one use at a time.
#![expect(unsafe_code, reason = "a static under a lock")]

use super::groups::MOST_PAGES;
use crate::patch::text_guard::TextGuard;
use crate::sys::mprotect::PAGE;
use core::cell::UnsafeCell;

/// Its length in bytes: a stretch from the start of its first page.
const LENGTH: usize = MOST_PAGES * PAGE;

struct Buffer(UnsafeCell<[u8; LENGTH]>);

// SAFETY: one thread at a time uses it (Invariant 1).
unsafe impl Sync for Buffer {}

static BUFFER: Buffer = Buffer(UnsafeCell::new([0; LENGTH]));

/// The first of `len` bytes for one use, with what the last use left in them.
///
/// # Panics
/// Where the buffer is shorter.
pub(super) fn bytes(_: &TextGuard, len: usize) -> *mut u8 {
    assert!(len <= LENGTH, "a stretch has at most {MOST_PAGES} pages");
    BUFFER.0.get().cast()
}
