//! A sequence that is interrupted on purpose, and tells how often it was started.
//!
//! # Safety
//! The contract of `rseq`, of which the sequence here needs the area only.
#![expect(unsafe_code, reason = "a sequence that waits inside")]

use super::injection::inject;
use super::{Area, section};
use core::arch::asm;
use core::sync::atomic::AtomicU32;

/// Runs a sequence that looks until `interrupted` is not 0, at most `looks` times each time it is started. Returns how often it was started,
/// and how many looks were left to its last start.
///
/// # Safety
/// The area is the calling thread's.
#[cold]
#[inline(never)]
pub(crate) unsafe fn starts_until(area: Area, interrupted: &AtomicU32, looks: u64) -> (u64, u64) {
    let (starts, left);
    // SAFETY: the caller guarantees the area. The sequence writes registers only, and ends by itself.
    unsafe {
        section!(
            [
                "inc {starts}",
                "mov {left}, {looks}",
                "775: cmp dword ptr [{word}], 0",
                "jne 776f",
                "dec {left}",
                "jnz 775b",
                "776:",
            ],
            [],
            area,
            t = out(reg) _,
            starts = inout(reg) 0_u64 => starts,
            left = out(reg) left,
            looks = in(reg) looks,
            word = in(reg) interrupted.as_ptr(),
            options(nostack)
        )
    };
    (starts, left)
}
