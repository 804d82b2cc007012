//! A block of zeroed memory for each thread, in the thread's static TLS: there from the thread's first instruction to its
//! last, and reached without a call.
//!
//! A signal handler needs it. `thread_local!` in a shared object goes by `__tls_get_addr`, which allocates the object's
//! block at a thread's first access, with malloc, which a handler must not enter. The initial-exec model has the offset
//! in the GOT when the object is loaded; glibc keeps some 1600 bytes of static TLS for objects that are loaded later, and
//! refuses to load one that finds no room. In an executable the linker makes a constant of the load.
//!
//! The symbol carries the crate's version, so that two versions in one link unit have a block each.
//!
//! # References
//! Drepper, ELF Handling For Thread-Local Storage, 4.3 and 4.4; ELF for the Arm 64-bit Architecture, 5.7.11; glibc manual, Dynamic Linking Tunables.
//!
//! # Safety
//! 1. The section is TLS, so each thread has its own copy; it is zeroed, `THREAD_BLOCK` bytes long, aligned to 64.
#![expect(unsafe_code, reason = "stable Rust has no initial-exec TLS")]

use crate::arch::THREAD_BLOCK;
use core::arch::{asm, global_asm};

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
    ".p2align 6",
    symbol!(".globl ", ""),
    symbol!(".hidden ", ""),
    symbol!(".type ", ", %object"),
    symbol!(".size ", ", {size}"),
    symbol!("", ":"),
    ".zero {size}",
    ".popsection",
    size = const THREAD_BLOCK,
);

/// The calling thread's block.
#[inline(always)]
pub(crate) fn thread_block() -> *const u8 {
    let at: *const u8;
    // SAFETY: computes an address, which is the same whenever one thread asks.
    unsafe {
        asm!(
            symbol!("adrp {offset}, :gottprel:", ""),
            symbol!("ldr {offset}, [{offset}, :gottprel_lo12:", "]"),
            "mrs {at}, tpidr_el0",
            "add {at}, {at}, {offset}",
            at = out(reg) at,
            offset = out(reg) _,
            options(pure, nomem, nostack, preserves_flags),
        )
    };
    at
}
