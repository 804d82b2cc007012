//! Single instructions between surroundings: read-modify-writes with LOCK and without, flags, the time stamp counter.
//!
//! # References
//! Intel SDM vol. 2: LOCK, PUSHF, POPF, RDTSC, RDTSCP, LFENCE.
//!
//! # Safety
//! 1. An instruction touches the registers named and the word given, which is its thread's alone; pushes are balanced.
#![expect(unsafe_code, reason = "inline assembly")]

use super::Word;
use core::arch::asm;
use core::arch::x86_64::__cpuid;

/// INC of the word.
#[inline(always)]
pub(crate) fn inc(word: &Word) {
    // SAFETY: Invariant 1.
    unsafe { asm!("inc qword ptr [{0}]", in(reg) word.get(), options(nostack)) };
}

/// LOCK INC of the word.
#[inline(always)]
pub(crate) fn lock_inc(word: &Word) {
    // SAFETY: Invariant 1.
    unsafe { asm!("lock inc qword ptr [{0}]", in(reg) word.get(), options(nostack)) };
}

/// LOCK INC and LOCK DEC of the word.
#[inline(always)]
pub(crate) fn lock_inc_dec(word: &Word) {
    // SAFETY: Invariant 1.
    unsafe { asm!("lock inc qword ptr [{0}]", "lock dec qword ptr [{0}]", in(reg) word.get(), options(nostack)) };
}

/// XADD of 1 to the word.
#[inline(always)]
pub(crate) fn xadd(word: &Word) {
    // SAFETY: Invariant 1.
    unsafe { asm!("xadd qword ptr [{0}], {1}", in(reg) word.get(), inout(reg) 1u64 => _, options(nostack)) };
}

/// LOCK XADD of 1 to the word.
#[inline(always)]
pub(crate) fn lock_xadd(word: &Word) {
    // SAFETY: Invariant 1.
    unsafe { asm!("lock xadd qword ptr [{0}], {1}", in(reg) word.get(), inout(reg) 1u64 => _, options(nostack)) };
}

/// CMPXCHG of the word from 7 to 7.
#[inline(always)]
pub(crate) fn cmpxchg(word: &Word) {
    // SAFETY: Invariant 1.
    unsafe {
        asm!("cmpxchg qword ptr [{0}], {1}", in(reg) word.get(), in(reg) 7u64, inout("rax") 7u64 => _, options(nostack))
    };
}

/// LOCK CMPXCHG of the word from 7 to 7.
#[inline(always)]
pub(crate) fn lock_cmpxchg(word: &Word) {
    // SAFETY: Invariant 1.
    unsafe {
        asm!("lock cmpxchg qword ptr [{0}], {1}", in(reg) word.get(), in(reg) 7u64, inout("rax") 7u64 => _, options(nostack))
    };
}

/// The flags, as PUSHF and POP save them.
#[inline(always)]
pub(crate) fn save_flags() -> u64 {
    let flags;
    // No nostack: it pushes.
    // SAFETY: Invariant 1.
    unsafe { asm!("pushfq", "pop {0}", out(reg) flags, options(preserves_flags)) };
    flags
}

/// Restores flags by PUSH and POPF. They are those of a moment before, so that nothing changes but the arithmetic flags.
#[inline(always)]
pub(crate) fn restore_flags(flags: u64) {
    // No nostack: it pushes.
    // SAFETY: Invariant 1.
    unsafe { asm!("push {0}", "popfq", in(reg) flags) };
}

/// Tests the saved interrupt flag, which is set, and branches where it is not.
#[inline(always)]
pub(crate) fn test_branch(flags: u64) {
    // SAFETY: Invariant 1; the branch leads to the next instruction.
    unsafe { asm!("test {0:e}, 0x200", "jz 7f", "7:", in(reg) flags, options(nostack)) };
}

/// RDTSC.
#[inline(always)]
pub(crate) fn rdtsc() {
    // SAFETY: Invariant 1.
    unsafe { asm!("rdtsc", out("eax") _, out("edx") _, options(nostack, preserves_flags)) };
}

/// LFENCE; RDTSC.
#[inline(always)]
pub(crate) fn lfence_rdtsc() {
    // SAFETY: Invariant 1.
    unsafe { asm!("lfence", "rdtsc", out("eax") _, out("edx") _, options(nostack, preserves_flags)) };
}

/// RDTSCP, on a CPU that has it.
#[derive(Clone, Copy)]
pub(crate) struct Rdtscp(());

impl Rdtscp {
    /// Asks CPUID (8000_0001h, EDX bit 27).
    pub(crate) fn find() -> Option<Self> {
        let has = __cpuid(0x8000_0000).eax >= 0x8000_0001 && __cpuid(0x8000_0001).edx & (1 << 27) != 0;
        has.then_some(Self(()))
    }

    /// RDTSCP.
    #[inline(always)]
    pub(crate) fn read(self) {
        // SAFETY: Invariant 1, and the CPU has it.
        unsafe { asm!("rdtscp", out("eax") _, out("edx") _, out("ecx") _, options(nostack, preserves_flags)) };
    }
}
