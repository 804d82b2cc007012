//! The program counter.
//!
//! # Safety
//! 1. The instruction writes the register named, and nothing else.
#![expect(unsafe_code, reason = "inline assembly")]

use core::arch::asm;

/// The address of the code that this is inlined to.
#[inline(always)]
pub fn program_counter() -> usize {
    let at;
    // SAFETY: Invariant 1. Neither pure nor nomem, so that nothing that touches memory is moved over it.
    unsafe { asm!("lea {0}, [rip]", out(reg) at, options(nostack, preserves_flags)) };
    at
}
