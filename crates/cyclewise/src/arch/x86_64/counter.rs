//! The time stamp counter, read with each ordering that [`clock`](crate::clock) offers.
//!
//! # States
//! [`choose`](super::tsc_order::choose) selects the sequence of a load-ordered read once. Until then a slow sequence is
//! used that is right on every CPU. The check of the choice is a load and a predictable branch; `apply_alternatives`
//! removes both where the choice is LFENCE.
//!
//! # Memory ordering
//! - `bare`: none.
//! - `load_ordered`: every earlier load has its value before the counter is read.
//! - `dependent_load`: the same, and the counter is read before every later load has its value. x86 keeps loads in
//!   order, and this read ends in a load whose address depends on the counter.
//! - `bracketed`: every earlier instruction has completed and no later one has begun. Earlier stores may not yet be
//!   seen by other CPUs. MFENCE before it (`wait_for_stores`) ensures that: it completes when they are, and LFENCE waits
//!   for it.
//!
//! # References
//! Intel SDM vol. 2, RDTSC, RDTSCP, LFENCE; AMD APM vol. 3, the same, and vol. 2, 3.2 (C001_1029h); Linux
//! arch/x86/include/asm/tsc.h (rdtsc_ordered); A. Lutomirski, "x86-64: Optimize vread_tsc's barriers", 2011.
//!
//! # Safety
//! 1. User code may read the counter. Where CR4.TSD forbids it, the process gets a signal, as for any `rdtsc`.
//! 2. Every sequence writes the registers it names. `dependent_load` reads one word that its caller borrowed.
#![expect(unsafe_code, reason = "instruction sequences with fences inside")]

use super::cpuid::cpuid;
use super::feature::{LFENCE_ORDERS, RDTSCP};
use super::rdtsc::{join, lfence_rdtsc_lfence, mfence_lfence_rdtsc_mfence_lfence};
use super::tsc_order;
use core::arch::asm;

pub(crate) use super::rdtsc::rdtsc as bare;

/// Whether there is a counter to read.
pub(crate) const AVAILABLE: bool = true;

/// The kernel's clock sources that read this counter (/sys/devices/system/clocksource).
pub(crate) const CLOCKSOURCES: &[&str] = &["tsc", "hyperv_clocksource_tsc_page"];

/// Chooses the instructions that order reads of the counter.
pub(crate) fn choose(_has_ecv: impl FnOnce() -> bool) {
    let _ = tsc_order::choose();
}

/// Whether the counter runs at one rate in all power and frequency states (CPUID 8000_0007h, EDX bit 8).
pub(crate) fn is_invariant() -> bool {
    cpuid(0x8000_0000).eax >= 0x8000_0007 && cpuid(0x8000_0007).edx & (1 << 8) != 0
}

/// Whether KVM promises that the counters of all CPUs are synchronized (KVM_FEATURE_CLOCKSOURCE_STABLE_BIT).
///
/// References: Linux Documentation/virt/kvm/x86/cpuid.rst.
pub(crate) fn is_stable_under_kvm() -> bool {
    const SIGNATURE: u32 = 0x4000_0000;
    // "KVMKVMKVM", and three zeroes.
    const KVM: (u32, u32, u32) = (0x4b4d_564b, 0x564b_4d56, 0x4d);
    let hypervisor = cpuid(1).ecx >> 31 == 1;
    let named = hypervisor.then(|| cpuid(SIGNATURE));
    named.is_some_and(|n| (n.ebx, n.ecx, n.edx) == KVM) && cpuid(SIGNATURE + 1).eax & 1 << 24 != 0
}

/// Ticks, after every earlier load.
#[inline(always)]
pub(crate) fn load_ordered() -> u64 {
    let (low, high): (u64, u64);
    // SAFETY: Invariants 1 and 2: every path leaves the counter in EDX:EAX and clobbers at most ECX. RDTSCP runs only
    // where CPUID announces it. The jumps stay inside. The replacement is used only where LFENCE orders (`tsc_order`).
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
            choice = in(reg_byte) tsc_order::code(),
            out("rax") low,
            out("rdx") high,
            out("rcx") _,
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
    // SAFETY: the shifts clear every bit, so the load reads `word`, which the caller borrowed.
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
    if tsc_order::lfence_serializes() {
        lfence_rdtsc_lfence()
    } else {
        mfence_lfence_rdtsc_mfence_lfence()
    }
}

/// Waits until every CPU sees what this one stored before. Not `fence(SeqCst)`, of which the compiler makes a locked
/// instruction: that orders memory, and does not keep RDTSC behind the stores.
#[inline(always)]
pub(crate) fn wait_for_stores() {
    // SAFETY: a barrier. No nomem: the program's stores stay before it.
    unsafe { asm!("mfence", options(nostack, preserves_flags)) };
}

/// Ticks, after every earlier load. An alternative: RDTSCP where the CPU has it, else LFENCE; RDTSC.
///
/// Ordering: every load before it in program order has its value; later instructions may start earlier.
#[inline(always)]
pub fn ordered_ticks() -> u64 {
    let (low, high): (u32, u32);
    // SAFETY: reads a counter that user code may read. No nomem: like a fence, it must not be reordered with loads.
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
