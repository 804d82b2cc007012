//! Single instructions between surroundings: an increment without atomicity, and the generic timer's virtual count.
//!
//! # References
//! Arm ARM (DDI 0487), D12.2.
//!
//! # Safety
//! 1. An instruction touches the registers named and the word given, which is its thread's alone.
#![expect(unsafe_code, reason = "inline assembly")]

use super::Word;
use core::arch::asm;

/// A load, an addition and a store of the word.
#[inline(always)]
pub(crate) fn inc(word: &Word) {
    // SAFETY: Invariant 1.
    unsafe {
        asm!("ldr {0}, [{1}]", "add {0}, {0}, #1", "str {0}, [{1}]", out(reg) _, in(reg) word.get(),
            options(nostack, preserves_flags))
    };
}

/// MRS CNTVCT_EL0.
#[inline(always)]
pub(crate) fn cntvct() {
    // SAFETY: Invariant 1; Linux lets user space read it.
    unsafe { asm!("mrs {0}, cntvct_el0", out(reg) _, options(nostack, preserves_flags)) };
}

/// ISB; MRS CNTVCT_EL0.
#[inline(always)]
pub(crate) fn isb_cntvct() {
    // SAFETY: Invariant 1; Linux lets user space read it.
    unsafe { asm!("isb", "mrs {0}, cntvct_el0", out(reg) _, options(nostack, preserves_flags)) };
}
