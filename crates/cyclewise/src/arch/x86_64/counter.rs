//! The time stamp counter, read in program order: RDTSCP where the CPU has it, else LFENCE and RDTSC.
//!
//! The first use of an alternative. Either waits for the loads before it; neither holds back what follows.
//!
//! # References
//! Intel SDM vol. 2, RDTSCP, LFENCE; Linux arch/x86/include/asm/msr.h (rdtsc_ordered).
//!
//! # Safety
//! Both sequences write EDX:EAX, RDTSCP also ECX, and neither touches memory.
#![expect(unsafe_code, reason = "an instruction sequence chosen at start")]

use super::alternative::RDTSCP;

/// The counter, in ticks.
///
/// Ordering: every load before it in program order has its value; later instructions may start earlier.
#[inline(always)]
pub fn ordered_ticks() -> u64 {
    let (low, high): (u32, u32);
    // SAFETY: reads a counter that user code may read. No nomem: like a fence, it must not move over loads.
    unsafe {
        crate::alternative!(
            feature = RDTSCP,
            default = ["lfence", "rdtsc"],
            replacement = ["rdtscp"],
            out("eax") low,
            out("edx") high,
            out("ecx") _,
            options(nostack, preserves_flags)
        )
    };
    u64::from(high) << 32 | u64::from(low)
}
