//! Which instruction orders a read of the counter after earlier loads: found out once, by a litmus test and by timing.
//!
//! RDTSCP waits for earlier loads on every CPU that has it. LFENCE does on Intel's CPUs, and on AMD's if bit 1 of MSR
//! C001_1029h is set, which only the kernel can read. So LFENCE is tried: a chain of dependent square roots ends in a load,
//! and the counter is read behind it. Where the fence waits, the chain's whole length is in the difference of two reads.
//!
//! # Invariants
//! 1. LFENCE is chosen where it passed the litmus test in every try, and the same test caught a bare RDTSC. Where the bare
//!    one was not caught the test says nothing, and LFENCE is chosen only on CPUs of Intel's, whose manual promises it.
//! 2. RDTSCP is chosen only where CPUID announces it.
//!
//! # Cost
//! Once, about 100 µs.
//!
//! # Safety
//! 1. The chain reads one word that the test has borrowed.
#![expect(
    unsafe_code,
    reason = "a chain of instructions that the compiler must leave as it is"
)]

use super::feature::{self, RDTSCP};
use super::rdtsc::{lfence_rdtsc, rdtsc, rdtscp};
use core::arch::{asm, x86_64::__cpuid};
use core::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// Not decided: MFENCE; LFENCE; RDTSC, which waits on every CPU.
const UNDECIDED: u8 = 0;
/// LFENCE; RDTSC.
const LFENCE: u8 = 1;
/// RDTSCP.
const TSCP: u8 = 2;
/// What a read of the counter does.
const CODE: u8 = 0b011;
/// LFENCE waits for every earlier instruction.
const SERIALIZES: u8 = 0b100;

/// Everything that was found out. One byte, so that it is seen whole.
static ORDER: AtomicU8 = AtomicU8::new(UNDECIDED);

/// Tries of the litmus test: one that fails decides.
const TRIES: usize = 64;
/// Reads that are timed at a time, and how often: the least of them counts.
const READS: u64 = 32;
const TIMINGS: usize = 32;

/// What was found out about LFENCE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Litmus {
    /// It waited in every try, and a bare RDTSC did not.
    Waits,
    /// It did not wait.
    DoesNotWait,
    /// A bare RDTSC was not caught either, so the test says nothing.
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

/// For the look before a read: 0 undecided, 1 LFENCE, 2 RDTSCP.
#[inline(always)]
pub(super) fn code() -> u8 {
    // Relaxed: every value it can hold is right at any time.
    ORDER.load(Relaxed) & CODE
}

/// Whether LFENCE was found to wait for every earlier instruction.
#[inline(always)]
pub(super) fn lfence_serializes() -> bool {
    // Relaxed: as above.
    ORDER.load(Relaxed) & SERIALIZES != 0
}

/// Whether LFENCE; RDTSC is the choice. For `alternative::has`.
pub(super) fn lfence_is_chosen() -> bool {
    choose() == Sequence::LfenceRdtsc
}

/// Decides, unless that was done. Two threads may both decide; either is right.
pub fn choose() -> Sequence {
    if code() == UNDECIDED {
        // Relaxed: it is one byte, and any value is right at any time.
        ORDER.store(decide(litmus(), is_intel(), feature::has(RDTSCP), cheaper), Relaxed);
    }
    match code() {
        LFENCE => Sequence::LfenceRdtsc,
        TSCP => Sequence::Rdtscp,
        _ => Sequence::MfenceLfenceRdtsc,
    }
}

/// Invariants 1 and 2.
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
    let id = __cpuid(0);
    // "GenuineIntel" as CPUID spells it: Intel SDM vol. 2, CPUID.
    (id.ebx, id.edx, id.ecx) == (0x756e_6547, 0x4965_6e69, 0x6c65_746e)
}

/// Tries LFENCE, and a bare RDTSC beside it.
pub fn litmus() -> Litmus {
    judge(delay(lfence_rdtsc), delay(rdtsc), chain_ticks())
}

/// What the chain delays a read by: with the fence, and bare; and how long it takes.
fn judge(fenced: u64, bare: u64, chain: u64) -> Litmus {
    match (fenced >= chain / 2, bare < chain / 2) {
        (true, true) => Litmus::Waits,
        (false, _) => Litmus::DoesNotWait,
        (true, false) => Litmus::SaysNothing,
    }
}

/// Square roots in the chain: few enough that every scheduler holds them and lets later instructions past (16 is the
/// smallest of any x86-64 CPU's for floating point), and slow, 13 core cycles and more (Agner Fog, "Instruction tables",
/// SQRTSD).
const CHAIN: usize = 12;
/// Chains in a row, to measure one.
const ROW: usize = 64;

/// Square roots that wait for each other, and a load that waits for the last.
#[inline(always)]
fn chain(x: f64) -> f64 {
    let word = 1u64;
    let mut x = x;
    // SAFETY: Invariant 1: both shifts together take every bit out, so that the word itself is read.
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

/// How much later `read` reads behind the chain than without: the least of all tries.
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

/// How long the chain takes: a row of them, so long that it does not matter when the counter is read.
fn chain_ticks() -> u64 {
    let once = |_| {
        let start = rdtsc();
        let mut x = 2.0;
        (0..ROW).for_each(|_| x = chain(x));
        rdtsc().wrapping_sub(start) / ROW as u64
    };
    (0..TRIES / 8).map(once).min().unwrap_or(u64::MAX)
}

/// Whether LFENCE; RDTSC costs no more than RDTSCP, which the CPU has.
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
    // SAFETY: the caller saw that it is there.
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

    /// The litmus test's own twin: a read that does not wait is called that.
    #[test]
    fn a_read_that_does_not_wait_is_caught() {
        assert_eq!(judge(160, 2, 170), Litmus::Waits);
        assert_eq!(judge(2, 2, 170), Litmus::DoesNotWait);
        assert_eq!(judge(160, 160, 170), Litmus::SaysNothing);
    }

    #[test]
    fn what_is_chosen_waits_for_the_chain() {
        choose();
        let waits = |read: fn() -> u64| {
            // A preemption makes a difference longer, never shorter; of the row it may make a chain longer.
            (0..100).any(|_| judge(delay(read), 0, chain_ticks()) == Litmus::Waits)
        };
        assert!(waits(counter::load_ordered));
        assert!(waits(counter::bracketed));
        assert!(waits(|| counter::dependent_load(&0)));
    }
}
