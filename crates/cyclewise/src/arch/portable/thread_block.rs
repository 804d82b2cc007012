//! The block of a thread without assembly: std's `thread_local!`, constant and without a destructor.
//!
//! In an executable it is static TLS too. In a shared object it is not under glibc, so the counterpart with assembly exists;
//! musl allocates every thread's block when it loads an object.

use crate::arch::THREAD_BLOCK;
use core::cell::UnsafeCell;

#[repr(align(16))]
struct Block(UnsafeCell<[u8; THREAD_BLOCK]>);

std::thread_local! {
    static BLOCK: Block = const { Block(UnsafeCell::new([0; THREAD_BLOCK])) };
}

/// Its distance from the thread pointer is not the same for all threads.
#[allow(dead_code, reason = "only builds with `mask` ask")]
pub(crate) fn offset() -> Option<isize> {
    None
}

/// The calling thread's block.
#[inline(always)]
pub(crate) fn thread_block() -> *const u8 {
    BLOCK.with(|block| block.0.get().cast())
}
