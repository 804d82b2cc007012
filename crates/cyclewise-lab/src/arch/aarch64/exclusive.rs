//! An addition by LDXR and STXR, whatever atomics the CPU has.
//!
//! std's additions are LDADD where the CPU has LSE, so the loop of exclusives has to be written out. Nothing but the addition is
//! between the two, as the manual asks.
//!
//! # References
//! Arm ARM (DDI 0487), B2.12 (exclusive accesses), C6.2 (LDXR, STXR).
//!
//! # Safety
//! The word is an atomic that is borrowed, and only exclusive and atomic accesses reach it.
#![expect(unsafe_code, reason = "inline assembly")]

use core::arch::asm;
use std::sync::atomic::AtomicU64;

/// Adds one, in no order with other accesses; returns the stores that failed.
#[inline(always)]
pub(crate) fn add(word: &AtomicU64) -> u64 {
    let mut failed: u64 = 0;
    // SAFETY: the address of a borrowed, aligned atomic. No nomem: it is memory.
    unsafe {
        asm!(
            "2:",
            "ldxr {value}, [{word}]",
            "add {value}, {value}, #1",
            "stxr {status:w}, {value}, [{word}]",
            "cbz {status:w}, 3f",
            "add {failed}, {failed}, #1",
            "b 2b",
            "3:",
            word = in(reg) word.as_ptr(),
            value = out(reg) _,
            status = out(reg) _,
            failed = inout(reg) failed,
            options(nostack, preserves_flags),
        );
    }
    failed
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering::Relaxed;

    #[test]
    fn every_addition_is_there() {
        let word = AtomicU64::new(41);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| (0..1000).for_each(|_| _ = add(&word)));
            }
        });
        assert_eq!(word.load(Relaxed), 2041);
    }
}
