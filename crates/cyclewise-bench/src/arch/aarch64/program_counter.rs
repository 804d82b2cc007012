//! The program counter.
//!
//! # Safety
//! 1. The instruction writes the register named, and nothing else.
#![expect(unsafe_code, reason = "inline assembly")]

use core::arch::asm;

/// The address of the code that this is inlined into.
#[inline(always)]
pub fn program_counter() -> usize {
    let at;
    // SAFETY: Invariant 1. Neither pure nor nomem, so that no memory access is moved across it.
    unsafe { asm!("adr {0}, .", out(reg) at, options(nostack, preserves_flags)) };
    at
}
