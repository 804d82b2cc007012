//! Reading the time stamp counter, bare and with each way of ordering it.
//!
//! `rdtsc-dependent-load` ends in a load whose address depends on the counter (through a zero the CPU cannot foresee),
//! so that the counter is read before every later load; with LFENCE in front it is the whole sequence proposed in 2011
//! in place of two fences. RDTSCP is left out where CPUID does not announce it (the caller looks).
//!
//! # References
//! A. Lutomirski and I. Molnar, "x86-64: Optimize vread_tsc's barriers", 2011.
//!
//! # Safety
//! The bodies read the arena's first word and write registers only; edx shifted left twice by 32 is zero.
use crate::arch::Body;
use cyclewise_bench::body;

/// The variants in the order of the table.
pub const BODIES: [Body; 7] = [
    body!("rdtsc", 16, [], ["rdtsc"]),
    body!("lfence-rdtsc", 16, [], ["lfence", "rdtsc"]),
    body!("mfence-rdtsc", 16, [], ["mfence", "rdtsc"]),
    body!("rdtscp", 16, [], ["rdtscp"]),
    body!("lfence-rdtsc-lfence", 16, [], ["lfence", "rdtsc", "lfence"]),
    body!(
        "rdtsc-dependent-load",
        16,
        [],
        [
            "rdtsc",
            "shl rdx, 32",
            "or rax, rdx",
            "shl rdx, 32",
            "mov rcx, [rsi + rdx]",
            "cmp rax, rcx",
            "cmovb rax, rcx"
        ]
    ),
    body!(
        "lfence-rdtsc-dependent-load",
        16,
        [],
        [
            "lfence",
            "rdtsc",
            "shl rdx, 32",
            "or rax, rdx",
            "shl rdx, 32",
            "mov rcx, [rsi + rdx]",
            "cmp rax, rcx",
            "cmovb rax, rcx"
        ]
    ),
];

/// Whether this CPU has RDTSCP (CPUID 8000_0001h, EDX bit 27).
pub fn has_rdtscp() -> bool {
    use core::arch::x86_64::__cpuid;
    __cpuid(0x8000_0000).eax >= 0x8000_0001 && __cpuid(0x8000_0001).edx & (1 << 27) != 0
}
