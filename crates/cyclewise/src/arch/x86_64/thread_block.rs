//! A zeroed block per thread in static TLS: valid from the thread's first instruction to its last, and addressed
//! without a call.
//!
//! Signal handlers need it. `thread_local!` in a shared object calls `__tls_get_addr`, which allocates the object's
//! block at a thread's first access by malloc, and a handler must not call that. In the initial-exec model the offset
//! is in the GOT once the object is loaded. glibc keeps some 1600 bytes of static TLS for objects that are loaded
//! later, and refuses to load an object that does not fit. In an executable the linker replaces the load by a constant.
//!
//! The symbol's name includes the crate's version, so that each version in a link unit has its own block.
//!
//! # References
//! glibc manual, Dynamic Linking Tunables.
//!
//! # Safety
//! 1. The section is TLS, so each thread has its own copy; it is zeroed, `THREAD_BLOCK` bytes long, aligned to 16.
#![expect(unsafe_code, reason = "stable Rust has no initial-exec TLS")]

use super::tls;
use crate::arch::THREAD_BLOCK;
use core::arch::global_asm;

macro_rules! symbol {
    ($before:literal, $after:literal) => {
        concat!(
            $before,
            "cyclewise_thread_block_",
            env!("CARGO_PKG_VERSION_MAJOR"),
            "_",
            env!("CARGO_PKG_VERSION_MINOR"),
            "_",
            env!("CARGO_PKG_VERSION_PATCH"),
            $after
        )
    };
}

global_asm!(
    ".pushsection .tbss.cyclewise, \"awT\", %nobits",
    ".p2align 4",
    symbol!(".globl ", ""),
    symbol!(".hidden ", ""),
    symbol!(".type ", ", %object"),
    symbol!(".size ", ", {size}"),
    symbol!("", ":"),
    ".zero {size}",
    ".popsection",
    size = const THREAD_BLOCK,
);

/// The block's distance from the thread pointer, which is the same for all threads.
pub(crate) fn offset() -> Option<isize> {
    Some(tls::offset!(symbol))
}

/// The calling thread's block.
#[inline(always)]
pub(crate) fn thread_block() -> *const u8 {
    tls::address!(symbol)
}
