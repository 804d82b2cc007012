//! Thread-local words by the initial-exec model: a word's distance from the thread pointer is in the GOT.
//!
//! # References
//! Drepper, ELF Handling For Thread-Local Storage, 4.3.6 and 4.4.6.
//!
//! # Safety
//! 1. The distance is a constant that the linker or the dynamic linker has written, and the thread pointer is constant for a thread.
#![allow(unused_imports, unused_macros, reason = "only glibc's builds have a thread's block")]

/// The word's distance from the thread pointer; `$symbol` makes a literal of its name and what is around it.
macro_rules! offset {
    ($symbol:ident) => {{
        let offset: isize;
        // SAFETY: loads a constant (1).
        unsafe {
            core::arch::asm!(
                $symbol!("mov {offset}, qword ptr [rip + ", "@gottpoff]"),
                offset = out(reg) offset,
                options(pure, readonly, nostack, preserves_flags),
            )
        };
        offset
    }};
}
pub(super) use offset;

/// The calling thread's word.
macro_rules! address {
    ($symbol:ident) => {{
        let at: *const u8;
        // SAFETY: computes an address, which is constant for a thread (1).
        unsafe {
            core::arch::asm!(
                $symbol!("mov {at}, qword ptr [rip + ", "@gottpoff]"),
                "add {at}, qword ptr fs:[0]",
                at = out(reg) at,
                options(pure, nomem, nostack),
            )
        };
        at
    }};
}
pub(super) use address;
