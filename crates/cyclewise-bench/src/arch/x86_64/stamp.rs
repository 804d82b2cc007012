//! Serialized time stamps around a batch.
//!
//! LFENCE; RDTSC; LFENCE on both sides: earlier instructions have completed, later ones have not begun. At the end of a
//! batch RDTSCP; LFENCE would do the same, but not every x86-64 CPU has it (Core 2, VMs that mask it). Not the `_rdtsc`
//! intrinsics: the compiler may move other code between an intrinsic and its fence.
//!
//! # References
//! Intel SDM vol. 2, LFENCE, RDTSC; AMD APM vol. 3, the same; Paoloni, "How to Benchmark Code Execution
//! Times", 2010 (with CPUID, which exits to the hypervisor in a VM, where LFENCE does not).
//!
//! # Safety
//! The instructions only write the registers named.
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
    let (low, high): (u32, u32);
    // SAFETY: writes eax and edx only. No nomem: memory accesses must not move across the stamp.
    unsafe { asm!("lfence", "rdtsc", "lfence", out("eax") low, out("edx") high, options(nostack)) };
    u64::from(high) << 32 | u64::from(low)
}
