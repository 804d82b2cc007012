//! The bare counter, for comparison with clocks: functions, so that they are measured like calls.
//!
//! # Safety
//! The instructions only write the register named. CNTVCT_EL0 is readable by user space on Linux.
#![expect(unsafe_code, reason = "inline assembly")]

use core::arch::asm;

/// CNTVCT_EL0.
#[inline(always)]
pub(crate) fn bare() -> u64 {
    let ticks: u64;
    // SAFETY: see the module's Safety section.
    unsafe { asm!("mrs {t}, cntvct_el0", t = out(reg) ticks, options(nostack, preserves_flags)) };
    ticks
}

/// ISB; CNTVCT_EL0.
#[inline(always)]
pub(crate) fn fenced() -> u64 {
    let ticks: u64;
    // SAFETY: see the module's Safety section.
    unsafe { asm!("isb", "mrs {t}, cntvct_el0", t = out(reg) ticks, options(nostack, preserves_flags)) };
    ticks
}
