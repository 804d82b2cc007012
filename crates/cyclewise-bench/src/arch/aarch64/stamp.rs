//! Serialized time stamps around a batch: ISB; MRS CNTVCT_EL0; ISB.
//!
//! ISB waits for earlier instructions but not for their memory accesses; the DSB before it waits for those.
//!
//! # References
//! Arm ARM (DDI 0487), D12.2 (the counter may be read early without ISB); linux arch/arm64/include/asm/arch_timer.h.
//!
//! # Safety
//! The instructions only write the registers named. CNTVCT_EL0 is readable by user space on Linux.
#![expect(unsafe_code, reason = "inline assembly")]

use core::arch::asm;

/// Ticks before a batch.
#[inline(always)]
pub fn start() -> u64 {
    ordered()
}

/// Ticks after a batch.
#[inline(always)]
pub fn stop() -> u64 {
    ordered()
}

#[inline(always)]
fn ordered() -> u64 {
    let ticks: u64;
    // SAFETY: writes one register. No nomem: memory accesses must not move across the stamp.
    unsafe { asm!("dsb ish", "isb", "mrs {t}, cntvct_el0", "isb", t = out(reg) ticks, options(nostack)) };
    ticks
}
