//! The one code that runs here and not in a guest: NOPs on the host, which a guest's are compared with.
//!
//! # Safety
//! The instructions write the registers named.
#![expect(unsafe_code, reason = "inline assembly")]

use core::arch::asm;

/// NOPs of one loop.
const NOPS: u64 = 64 * 64;
/// Loops, of which the quickest counts.
const LOOPS: usize = 32;

/// Ticks per NOP on this CPU.
pub(crate) fn ticks_per_nop() -> f64 {
    let quickest = (0..LOOPS).map(|_| ticks()).min().unwrap_or(1);
    quickest.max(1) as f64 / NOPS as f64
}

fn ticks() -> u64 {
    let (low, high): (u64, u64);
    // SAFETY: counts ecx down around NOPs, and reads the counter before and after; only the registers named are written.
    unsafe {
        asm!(
            "lfence", "rdtsc", "lfence",
            "shl rdx, 32",
            "or rax, rdx",
            "mov r8, rax",
            "mov ecx, 64",
            "2:",
            ".rept 64",
            "nop",
            ".endr",
            "dec ecx",
            "jnz 2b",
            "lfence", "rdtsc", "lfence",
            "shl rdx, 32",
            "or rax, rdx",
            out("rax") high,
            out("rdx") _,
            out("rcx") _,
            out("r8") low,
            options(nostack),
        )
    };
    high.wrapping_sub(low)
}
