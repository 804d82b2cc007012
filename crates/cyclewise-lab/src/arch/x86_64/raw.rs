//! The bare counter, for comparison with clocks: functions, so that they are measured like calls.
//!
//! # Safety
//! The instructions only write the registers named; the counter is readable by user code. RDTSCP is asked for first.
#![expect(unsafe_code, reason = "inline assembly")]

use core::arch::asm;

#[inline(always)]
fn join(low: u32, high: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// RDTSC.
#[inline(always)]
pub(crate) fn bare() -> u64 {
    let (low, high): (u32, u32);
    // SAFETY: as the module says.
    unsafe { asm!("rdtsc", out("eax") low, out("edx") high, options(nostack, preserves_flags)) };
    join(low, high)
}

/// LFENCE; RDTSC.
#[inline(always)]
pub(crate) fn fenced() -> u64 {
    let (low, high): (u32, u32);
    // SAFETY: as the module says.
    unsafe { asm!("lfence", "rdtsc", out("eax") low, out("edx") high, options(nostack, preserves_flags)) };
    join(low, high)
}

/// RDTSCP, on a CPU that has it.
#[derive(Clone, Copy)]
pub(crate) struct Waiting(());

impl Waiting {
    /// Asks CPUID.
    pub(crate) fn find() -> Option<Self> {
        super::counter::has_rdtscp().then_some(Self(()))
    }

    /// RDTSCP.
    #[inline(always)]
    pub(crate) fn read(self) -> u64 {
        let (low, high): (u32, u32);
        // SAFETY: as the module says, and the CPU has it.
        unsafe { asm!("rdtscp", out("eax") low, out("edx") high, out("ecx") _, options(nostack, preserves_flags)) };
        join(low, high)
    }
}
