//! The counter as it is, for clocks to be held against: functions, so that they are measured as calls are.
//!
//! # Safety
//! The instructions only write the register named. CNTVCT_EL0 is readable by user space on Linux.
#![expect(unsafe_code, reason = "inline assembly")]

use core::arch::asm;

/// CNTVCT_EL0.
#[inline(always)]
pub fn bare() -> u64 {
    let ticks: u64;
    // SAFETY: as the module says.
    unsafe { asm!("mrs {t}, cntvct_el0", t = out(reg) ticks, options(nostack, preserves_flags)) };
    ticks
}

/// ISB; CNTVCT_EL0.
#[inline(always)]
pub fn fenced() -> u64 {
    let ticks: u64;
    // SAFETY: as the module says.
    unsafe { asm!("isb", "mrs {t}, cntvct_el0", t = out(reg) ticks, options(nostack, preserves_flags)) };
    ticks
}
