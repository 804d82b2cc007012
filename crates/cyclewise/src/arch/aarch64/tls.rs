//! Thread-local words, as in the x86-64 counterpart.
//!
//! # References
//! Drepper, ELF Handling For Thread-Local Storage, 4.3 and 4.4; ELF for the Arm 64-bit Architecture, 5.7.11.
//!
//! # Safety
//! 1. As in the x86-64 counterpart.
#![allow(unused_imports, unused_macros, reason = "only glibc's builds have a thread's block")]

macro_rules! offset {
    ($symbol:ident) => {{
        let offset: isize;
        // SAFETY: loads a constant (1).
        unsafe {
            core::arch::asm!(
                $symbol!("adrp {offset}, :gottprel:", ""),
                $symbol!("ldr {offset}, [{offset}, :gottprel_lo12:", "]"),
                offset = out(reg) offset,
                options(pure, readonly, nostack, preserves_flags),
            )
        };
        offset
    }};
}
pub(super) use offset;

macro_rules! address {
    ($symbol:ident) => {{
        let at: *const u8;
        // SAFETY: computes an address, which is constant for a thread (1).
        unsafe {
            core::arch::asm!(
                $symbol!("adrp {offset}, :gottprel:", ""),
                $symbol!("ldr {offset}, [{offset}, :gottprel_lo12:", "]"),
                "mrs {at}, tpidr_el0",
                "add {at}, {at}, {offset}",
                at = out(reg) at,
                offset = out(reg) _,
                options(pure, nomem, nostack, preserves_flags),
            )
        };
        at
    }};
}
pub(super) use address;
