//! Chooses the instruction that orders a read of the counter after earlier loads, once, by a litmus test and by timing.
//!
//! RDTSCP waits for earlier loads on every CPU that has it. LFENCE does on Intel's CPUs, and on AMD's if bit 1 of MSR
//! C001_1029h is set, which only the kernel can read. So LFENCE is tested: a chain of dependent square roots ends in a
//! load, and the counter is read after it. If the fence waits, the difference of two reads includes the whole chain.
//!
//! # Invariants
//! 1. LFENCE is chosen only where it passed the litmus test in every try and a bare RDTSC failed it. If the bare one
//!    passed, the test is inconclusive, and LFENCE is chosen only on Intel's CPUs, whose manual guarantees it.
//! 2. RDTSCP is chosen only where CPUID announces it.
//!
//! # Cost
//! Once, about 100 µs.
//!
//! # Safety
//! 1. The chain reads one word that the test borrowed.
#![expect(
    unsafe_code,
    reason = "a chain of instructions that the compiler must leave as it is"
)]

use super::cpuid::cpuid;
use super::feature::{self, RDTSCP};
use super::rdtsc::{lfence_rdtsc, rdtsc, rdtscp};
use core::arch::asm;
use core::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// Not decided: MFENCE; LFENCE; RDTSC is used, which waits on every CPU.
const UNDECIDED: u8 = 0;
/// LFENCE; RDTSC.
const LFENCE: u8 = 1;
/// RDTSCP.
const TSCP: u8 = 2;
/// Mask of the chosen sequence.
const CODE: u8 = 0b011;
/// LFENCE waits for every earlier instruction.
const SERIALIZES: u8 = 0b100;

/// The whole decision, in one byte so that it is read at once.
static ORDER: AtomicU8 = AtomicU8::new(UNDECIDED);

/// Tries of the litmus test: one failure decides.
const TRIES: usize = 64;
/// Reads per timing, and the number of timings: the shortest counts.
const READS: u64 = 32;
const TIMINGS: usize = 32;

/// The litmus test's result for LFENCE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Litmus {
    /// It waited in every try, and a bare RDTSC did not.
    Waits,
    /// It did not wait.
    DoesNotWait,
    /// A bare RDTSC waited too, so the test is inconclusive.
    SaysNothing,
}

/// The sequence that reads the counter after earlier loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sequence {
    /// MFENCE; LFENCE; RDTSC.
    MfenceLfenceRdtsc,
    /// LFENCE; RDTSC.
    LfenceRdtsc,
    /// RDTSCP.
    Rdtscp,
}

/// The choice, checked before a read: 0 undecided, 1 LFENCE, 2 RDTSCP.
#[inline(always)]
pub(super) fn code() -> u8 {
    // Relaxed: every possible value is right at any time.
    ORDER.load(Relaxed) & CODE
}

/// Whether LFENCE waits for every earlier instruction, according to the test.
#[inline(always)]
pub(super) fn lfence_serializes() -> bool {
    // Relaxed: every possible value is right at any time.
    ORDER.load(Relaxed) & SERIALIZES != 0
}

/// Whether LFENCE; RDTSC is the choice. For `alternative::has`.
pub(super) fn lfence_is_chosen() -> bool {
    choose() == Sequence::LfenceRdtsc
}

/// Decides on the first call. Two threads may both decide; either result is right.
pub fn choose() -> Sequence {
    if code() == UNDECIDED {
        // Relaxed: every possible value is right at any time.
        ORDER.store(decide(litmus(), is_intel(), feature::has(RDTSCP), cheaper), Relaxed);
    }
    match code() {
        LFENCE => Sequence::LfenceRdtsc,
        TSCP => Sequence::Rdtscp,
        _ => Sequence::MfenceLfenceRdtsc,
    }
}

/// Decides by Invariants 1 and 2.
fn decide(litmus: Litmus, is_intel: bool, has_rdtscp: bool, lfence_is_cheaper: fn() -> bool) -> u8 {
    let waits = litmus == Litmus::Waits || litmus == Litmus::SaysNothing && is_intel;
    match (waits, has_rdtscp) {
        (true, true) if lfence_is_cheaper() => LFENCE | SERIALIZES,
        (true, true) => TSCP | SERIALIZES,
        (true, false) => LFENCE | SERIALIZES,
        (false, true) => TSCP,
        (false, false) => UNDECIDED,
    }
}

fn is_intel() -> bool {
    let id = cpuid(0);
    // "GenuineIntel" as CPUID spells it: Intel SDM vol. 2, CPUID.
    (id.ebx, id.edx, id.ecx) == (0x756e_6547, 0x4965_6e69, 0x6c65_746e)
}

/// Tests LFENCE, and a bare RDTSC for comparison.
pub fn litmus() -> Litmus {
    judge(delay(lfence_rdtsc), delay(rdtsc), chain_ticks())
}

/// Compares the delay of a fenced and of a bare read by the chain with the chain's length.
fn judge(fenced: u64, bare: u64, chain: u64) -> Litmus {
    match (fenced >= chain / 2, bare < chain / 2) {
        (true, true) => Litmus::Waits,
        (false, _) => Litmus::DoesNotWait,
        (true, false) => Litmus::SaysNothing,
    }
}

/// Square roots in the chain: few enough that every scheduler holds them and lets later instructions pass (the smallest
/// floating-point scheduler of an x86-64 CPU has 16 entries), each at least 13 core cycles (Agner Fog, "Instruction
/// tables", SQRTSD).
const CHAIN: usize = 12;
/// Chains in a row, to measure one.
const ROW: usize = 64;

/// Square roots that wait for each other, and a load that waits for the last.
#[inline(always)]
fn chain(x: f64) -> f64 {
    let word = 1u64;
    let mut x = x;
    // SAFETY: Invariant 1: the two shifts clear every bit, so the word itself is read.
    unsafe {
        asm!(
            ".rept {chain}",
            "sqrtsd {x}, {x}",
            ".endr",
            "movq {r}, {x}",
            "shl {r}, 32",
            "shl {r}, 32",
            "mov {r}, [{word} + {r}]",
            x = inout(xmm_reg) x,
            r = out(reg) _,
            word = in(reg) &word,
            chain = const CHAIN,
            options(nostack, readonly)
        )
    };
    x
}

/// The ticks by which the chain delays `read`: the difference of the least of all tries with and without it.
fn delay(read: impl Fn() -> u64) -> u64 {
    let least = |work: fn()| {
        let once = |_| {
            let start = lfence_rdtsc();
            work();
            read().wrapping_sub(start)
        };
        (0..TRIES).map(once).min().unwrap_or(0)
    };
    let with = least(|| {
        chain(2.0);
    });
    with.saturating_sub(least(|| {}))
}

/// The ticks of one chain, measured over a row so long that the order of the counter's reads does not matter.
fn chain_ticks() -> u64 {
    let once = |_| {
        let start = rdtsc();
        let mut x = 2.0;
        (0..ROW).for_each(|_| x = chain(x));
        rdtsc().wrapping_sub(start) / ROW as u64
    };
    (0..TRIES / 8).map(once).min().unwrap_or(u64::MAX)
}

/// Whether LFENCE; RDTSC costs no more than RDTSCP. Called only if the CPU has RDTSCP.
fn cheaper() -> bool {
    let time = |read: fn() -> u64| {
        let once = || {
            let start = lfence_rdtsc();
            (0..READS).for_each(|_| {
                core::hint::black_box(read());
            });
            lfence_rdtsc().wrapping_sub(start)
        };
        (0..TIMINGS).map(|_| once()).min().unwrap_or(0)
    };
    // SAFETY: the caller checked that the CPU has RDTSCP.
    time(lfence_rdtsc) <= time(|| unsafe { rdtscp() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::counter;

    #[test]
    fn lfence_is_chosen_only_where_it_is_known_to_wait() {
        let [yes, no]: [fn() -> bool; 2] = [|| true, || false];
        assert_eq!(decide(Litmus::Waits, false, true, yes), LFENCE | SERIALIZES);
        assert_eq!(decide(Litmus::Waits, false, true, no), TSCP | SERIALIZES);
        assert_eq!(decide(Litmus::Waits, false, false, no), LFENCE | SERIALIZES);
        assert_eq!(decide(Litmus::SaysNothing, true, true, yes), LFENCE | SERIALIZES);
        assert_eq!(decide(Litmus::SaysNothing, false, true, yes), TSCP);
        assert_eq!(decide(Litmus::DoesNotWait, true, true, yes), TSCP);
        assert_eq!(decide(Litmus::DoesNotWait, false, false, yes), UNDECIDED);
    }

    /// The litmus test detects a read that does not wait.
    #[test]
    fn a_read_that_does_not_wait_is_caught() {
        assert_eq!(judge(160, 2, 170), Litmus::Waits);
        assert_eq!(judge(2, 2, 170), Litmus::DoesNotWait);
        assert_eq!(judge(160, 160, 170), Litmus::SaysNothing);
    }

    #[test]
    fn the_chosen_sequence_waits_for_the_chain() {
        choose();
        let waits = |read: fn() -> u64| {
            // A preemption makes a delay longer, never shorter, but it may also make the measured chain longer.
            (0..100).any(|_| judge(delay(read), 0, chain_ticks()) == Litmus::Waits)
        };
        assert!(waits(counter::load_ordered));
        assert!(waits(counter::bracketed));
        assert!(waits(|| counter::dependent_load(&0)));
    }
}
