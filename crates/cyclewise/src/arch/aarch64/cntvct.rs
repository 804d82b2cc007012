//! The virtual counter of the generic timer, read with each ordering that [`clock`](crate::clock) offers.
//!
//! A read of CNTVCT_EL0 may execute early. An ISB before it orders it after earlier instructions, but does not wait
//! until an earlier load has its value; for that, the manual's example has a branch that depends on the load. Here the
//! caller's loads are unknown, so DSB ISHLD waits for all of them. CNTVCTSS_EL0 (FEAT_ECV) needs no ISB.
//!
//! # Memory ordering
//! As in the x86-64 counterpart. `dependent_load` ends in a load whose address depends on the counter, and an ISB, without
//! which later loads would not wait for it: Arm orders two loads only if one depends on the other.
//!
//! # References
//! Arm ARM DDI 0487, D12.2.1 (the example with a branch and an ISB), D24.8 (CNTVCT_EL0, CNTVCTSS_EL0, CNTFRQ_EL0),
//! B2.3.12 (DSB). Linux arch/arm64/include/asm/arch_timer.h.
//!
//! # Safety
//! 1. Linux lets user code read CNTVCT_EL0 and CNTFRQ_EL0, or emulates them. CNTVCTSS_EL0 is read only where AT_HWCAP2
//!    announces ECV.
//! 2. Every sequence writes the registers it names. `dependent_load` reads one word that its caller borrowed.
#![expect(unsafe_code, reason = "system registers and barriers")]

use core::arch::asm;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

pub(crate) const AVAILABLE: bool = true;

pub(crate) const CLOCKSOURCES: &[&str] = &["arch_sys_counter"];

pub(crate) use super::super::portable::counter::is_stable_under_kvm;

/// Whether CNTVCTSS_EL0 may be read.
static SELF_SYNCHRONIZED: AtomicBool = AtomicBool::new(false);

/// Whether the counter runs at one rate: always by the architecture, but false if the firmware set no frequency.
pub(crate) fn is_invariant() -> bool {
    frequency() != 0
}

/// Ticks per second, as set by the firmware; 0 if it set nothing.
pub(crate) fn frequency() -> u64 {
    let hz: u64;
    // SAFETY: a register that the kernel lets us read (1).
    unsafe { asm!("mrs {hz}, cntfrq_el0", hz = out(reg) hz, options(nomem, nostack, preserves_flags)) };
    hz & 0xffff_ffff
}

/// Chooses how the counter is read: by CNTVCTSS_EL0 where AT_HWCAP2 announces FEAT_ECV.
pub(crate) fn choose(has_ecv: impl FnOnce() -> bool) {
    // Relaxed: both ways of reading are right where the bit is set.
    SELF_SYNCHRONIZED.store(has_ecv(), Relaxed);
}

/// Ticks, without ordering.
#[inline(always)]
pub(crate) fn bare() -> u64 {
    let ticks: u64;
    // SAFETY: reads a counter that the kernel lets us read (1) into a named register (2). No nomem: the
    // compiler keeps it among the program's accesses.
    unsafe { asm!("mrs {t}, cntvct_el0", t = out(reg) ticks, options(nostack, preserves_flags)) };
    ticks
}

#[inline(always)]
pub(crate) fn load_ordered() -> u64 {
    let ticks: u64;
    // Relaxed: see `choose`.
    if SELF_SYNCHRONIZED.load(Relaxed) {
        // SAFETY: reads a counter that the kernel announces (1) into a named register (2). By its encoding,
        // S3_3_C14_C0_6: assemblers without ECV do not know its name.
        unsafe { asm!("dsb ishld", "mrs {t}, S3_3_C14_C0_6", t = out(reg) ticks, options(nostack, preserves_flags)) };
    } else {
        // SAFETY: reads a counter that the kernel lets us read (1) into named registers (2).
        unsafe {
            asm!("dsb ishld", "isb", "mrs {t}, cntvct_el0", t = out(reg) ticks, options(nostack, preserves_flags))
        };
    }
    ticks
}

#[inline(always)]
pub(crate) fn dependent_load(word: &u64) -> u64 {
    let ticks = load_ordered();
    let last: u64;
    // SAFETY: a value exclusive-ored with itself is zero, so the load reads `word`, which the caller borrowed.
    unsafe {
        asm!(
            "eor {zero}, {ticks}, {ticks}",
            "ldr {last}, [{word}, {zero}]",
            "isb",
            zero = out(reg) _,
            ticks = in(reg) ticks,
            word = in(reg) word,
            last = lateout(reg) last,
            options(nostack, readonly, preserves_flags)
        )
    };
    ticks.max(last)
}

#[inline(always)]
pub(crate) fn wait_for_stores() {
    // SAFETY: a barrier. No nomem: the program's stores stay before it.
    unsafe { asm!("dsb ish", options(nostack, preserves_flags)) };
}

#[inline(always)]
pub(crate) fn bracketed() -> u64 {
    let ticks: u64;
    // SAFETY: reads a counter that the kernel lets us read (1) into named registers (2).
    unsafe {
        asm!("dsb ish", "isb", "mrs {t}, cntvct_el0", "isb", t = out(reg) ticks, options(nostack, preserves_flags))
    };
    ticks
}
