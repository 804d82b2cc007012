//! RDTSC and RDTSCP with fixed fences: the sequences that `counter` and `tsc_order` choose from.
//!
//! Not the `_rdtsc` intrinsics: the compiler may move code between an intrinsic and its fence. No sequence has `nomem`,
//! so the compiler does not move the program's accesses across it.
//!
//! # References
//! Intel SDM vol. 2, RDTSC, RDTSCP, LFENCE; AMD APM vol. 3, the same, and vol. 2, 3.2 (C001_1029h).
//!
//! # Safety
//! 1. User code may read the counter. Where CR4.TSD forbids it, the process gets a signal, as for any `rdtsc`.
//! 2. Every sequence writes the registers it names.
#![expect(unsafe_code, reason = "instruction sequences with fences inside")]

use core::arch::asm;

/// RDTSC alone: the CPU may read the counter early or late.
#[inline(always)]
pub(crate) fn rdtsc() -> u64 {
    let (low, high): (u64, u64);
    // SAFETY: reads a counter that user code may read (1) into named registers (2).
    unsafe { asm!("rdtsc", out("rax") low, out("rdx") high, options(nostack, preserves_flags)) };
    join(low, high)
}

/// LFENCE; RDTSC.
#[inline(always)]
pub(super) fn lfence_rdtsc() -> u64 {
    let (low, high): (u64, u64);
    // SAFETY: reads a counter that user code may read (1) into named registers (2).
    unsafe { asm!("lfence", "rdtsc", out("rax") low, out("rdx") high, options(nostack, preserves_flags)) };
    join(low, high)
}

/// LFENCE; RDTSC; LFENCE.
#[inline(always)]
pub(super) fn lfence_rdtsc_lfence() -> u64 {
    let (low, high): (u64, u64);
    // SAFETY: reads a counter that user code may read (1) into named registers (2).
    unsafe { asm!("lfence", "rdtsc", "lfence", out("rax") low, out("rdx") high, options(nostack, preserves_flags)) };
    join(low, high)
}

/// MFENCE; LFENCE; RDTSC; MFENCE; LFENCE: ordered both ways where LFENCE is not known to serialize. MFENCE serializes
/// on AMD's CPUs, and LFENCE on all others.
#[cold]
pub(super) fn mfence_lfence_rdtsc_mfence_lfence() -> u64 {
    let (low, high): (u64, u64);
    // SAFETY: reads a counter that user code may read (1) into named registers (2).
    unsafe {
        asm!("mfence", "lfence", "rdtsc", "mfence", "lfence", out("rax") low, out("rdx") high, options(nostack, preserves_flags))
    };
    join(low, high)
}

/// RDTSCP.
///
/// # Safety
/// The CPU has RDTSCP.
#[inline(always)]
pub(super) unsafe fn rdtscp() -> u64 {
    let (low, high): (u64, u64);
    // SAFETY: reads a counter that user code may read (1) into named registers (2); the caller guarantees that the CPU
    // has RDTSCP.
    unsafe { asm!("rdtscp", out("rax") low, out("rdx") high, out("rcx") _, options(nostack, preserves_flags)) };
    join(low, high)
}

/// Joins EDX:EAX to one number. Whole registers, because the instructions clear their upper halves: the compiler does not
/// know that, and would clear that of EAX again, between the counter and all that is computed from its lower half.
#[inline(always)]
pub(super) fn join(low: u64, high: u64) -> u64 {
    high << 32 | low
}
