//! The time stamp counter, read with each ordering that [`clock`](crate::clock) offers.
//!
//! Not the `_rdtsc` intrinsics: the compiler may move code between an intrinsic and its fence.
//!
//! # States
//! How a load-ordered read is made is decided once, by [`choose`](super::choice::choose); until then by the sequence that
//! is right on every CPU and slow. The look at the choice is a load and a branch that the CPU foresees.
//! `apply_alternatives` takes both away where the choice is LFENCE.
//!
//! # Memory ordering
//! - `bare`: none.
//! - `load_ordered`: every earlier load has its value before the counter is read.
//! - `dependent_load`: that, and the counter is read before every later load has its value: x86 keeps loads in order, and
//!   this read ends in one whose address hangs on the counter.
//! - `bracketed`: every earlier instruction has completed and no later one has begun. Earlier stores may not yet be seen
//!   by other CPUs.
//!
//! No sequence has `nomem`: the compiler may not move the program's accesses across.
//!
//! # References
//! Intel SDM vol. 2, RDTSC, RDTSCP, LFENCE; AMD APM vol. 3, the same, and vol. 2, 3.2 (C001_1029h); Linux
//! arch/x86/include/asm/tsc.h (rdtsc_ordered); A. Lutomirski, "x86-64: Optimize vread_tsc's barriers", 2011.
//!
//! # Safety
//! 1. The counter may be read by user code: where CR4.TSD forbids it the process gets a signal, as for any `rdtsc`.
//! 2. Every sequence writes the registers it names. `dependent_load` reads one word that its caller has borrowed.
#![expect(unsafe_code, reason = "instruction sequences with fences inside")]

use super::alternative::LFENCE_ORDERS;
use super::choice;
use core::arch::asm;

/// There is a counter to read.
#[cfg(not(loom))]
pub(crate) const AVAILABLE: bool = true;

/// The counter that never stands still, whatever the CPU sleeps or how fast it runs (CPUID 8000_0007h, EDX bit 8).
#[cfg(not(loom))]
pub(crate) fn is_invariant() -> bool {
    use core::arch::x86_64::__cpuid;
    __cpuid(0x8000_0000).eax >= 0x8000_0007 && __cpuid(0x8000_0007).edx & (1 << 8) != 0
}

/// Whether KVM promises that the counters of all CPUs go together (KVM_FEATURE_CLOCKSOURCE_STABLE_BIT).
///
/// References: Linux Documentation/virt/kvm/x86/cpuid.rst.
#[cfg(not(loom))]
pub(crate) fn is_stable_under_kvm() -> bool {
    use core::arch::x86_64::__cpuid;
    const SIGNATURE: u32 = 0x4000_0000;
    // "KVMKVMKVM", and three zeroes.
    const KVM: (u32, u32, u32) = (0x4b4d_564b, 0x564b_4d56, 0x4d);
    let hypervisor = __cpuid(1).ecx >> 31 == 1;
    let named = hypervisor.then(|| __cpuid(SIGNATURE));
    named.is_some_and(|n| (n.ebx, n.ecx, n.edx) == KVM) && __cpuid(SIGNATURE + 1).eax & 1 << 24 != 0
}

/// Ticks, when the CPU likes.
#[inline(always)]
pub(crate) fn bare() -> u64 {
    let (low, high): (u32, u32);
    // SAFETY: reads a counter that user code may read (1) into registers that are named (2).
    unsafe { asm!("rdtsc", out("eax") low, out("edx") high, options(nostack, preserves_flags)) };
    join(low, high)
}

/// Ticks, after every earlier load.
#[inline(always)]
pub(crate) fn load_ordered() -> u64 {
    let (low, high): (u32, u32);
    // SAFETY: Invariants 1 and 2: either way EDX:EAX is the counter and ECX lost; RDTSCP runs where it was found. The
    // jumps stay inside, and the replacement stands where LFENCE was found to order (`choice`).
    unsafe {
        crate::alternative!(
            feature = LFENCE_ORDERS,
            default = [
                "cmp {choice}, 1",
                "je 3f",
                "ja 2f",
                "mfence",
                "3:",
                "lfence",
                "rdtsc",
                "jmp 4f",
                "2:",
                "rdtscp",
                "4:"
            ],
            replacement = ["lfence", "rdtsc"],
            choice = in(reg_byte) choice::code(),
            out("eax") low,
            out("edx") high,
            out("ecx") _,
            options(nostack)
        )
    };
    join(low, high)
}

/// Ticks, after every earlier load and before every later one; never less than `word`.
#[inline(always)]
pub(crate) fn dependent_load(word: &u64) -> u64 {
    let ticks = load_ordered();
    let last: u64;
    // SAFETY: the shifts take every bit out, so that what is read is `word`, which its caller has borrowed.
    unsafe {
        asm!(
            "mov {zero}, {ticks}",
            "shl {zero}, 32",
            "shl {zero}, 32",
            "mov {last}, [{word} + {zero}]",
            zero = out(reg) _,
            ticks = in(reg) ticks,
            word = in(reg) word,
            last = lateout(reg) last,
            options(nostack, readonly)
        )
    };
    ticks.max(last)
}

/// Ticks, after every earlier instruction and before every later one.
#[inline(always)]
pub(crate) fn bracketed() -> u64 {
    if choice::lfence_serializes() {
        lfence_rdtsc_lfence()
    } else {
        bracketed_slow()
    }
}

/// Where LFENCE is not known to serialize: MFENCE does so on AMD's CPUs, and LFENCE on all others.
#[cold]
fn bracketed_slow() -> u64 {
    let (low, high): (u32, u32);
    // SAFETY: reads a counter that user code may read (1) into registers that are named (2).
    unsafe {
        asm!("mfence", "lfence", "rdtsc", "mfence", "lfence", out("eax") low, out("edx") high, options(nostack, preserves_flags))
    };
    join(low, high)
}

#[inline(always)]
pub(super) fn lfence_rdtsc() -> u64 {
    let (low, high): (u32, u32);
    // SAFETY: reads a counter that user code may read (1) into registers that are named (2).
    unsafe { asm!("lfence", "rdtsc", out("eax") low, out("edx") high, options(nostack, preserves_flags)) };
    join(low, high)
}

#[inline(always)]
fn lfence_rdtsc_lfence() -> u64 {
    let (low, high): (u32, u32);
    // SAFETY: reads a counter that user code may read (1) into registers that are named (2).
    unsafe { asm!("lfence", "rdtsc", "lfence", out("eax") low, out("edx") high, options(nostack, preserves_flags)) };
    join(low, high)
}

/// # Safety
/// The CPU has RDTSCP.
#[inline(always)]
pub(super) unsafe fn rdtscp() -> u64 {
    let (low, high): (u32, u32);
    // SAFETY: reads a counter that user code may read (1) into registers that are named (2); the caller says that RDTSCP is
    // there.
    unsafe { asm!("rdtscp", out("eax") low, out("edx") high, out("ecx") _, options(nostack, preserves_flags)) };
    join(low, high)
}

#[inline(always)]
fn join(low: u32, high: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}
