//! As on x86-64, but code that registers a descriptor is not recognised: linkers may replace its ADRP.
//!
//! # Safety
//! The contract of `rseq`, of which the sequence here needs the area only.
#![expect(unsafe_code, reason = "a sequence that tells where it is")]

use super::{Area, section};
use core::arch::asm;
use core::sync::atomic::AtomicU8;

/// It does not.
pub(crate) const RECOGNISES: bool = false;

/// Whether a sequence of this link unit runs where its descriptor says.
///
/// # Safety
/// The area is the calling thread's.
#[cold]
#[inline(never)]
pub(crate) unsafe fn is_in_place(area: Area) -> bool {
    let (said, here): (usize, usize);
    // SAFETY: the caller guarantees the area. The sequence writes registers only; then the descriptor's start is loaded.
    unsafe {
        section!(
            ["adr {here}, 772b"],
            ["ldr {t}, [{t}, #8]"],
            area,
            here = out(reg) here,
            t = out(reg) said,
            options(nostack)
        )
    };
    said == here
}

/// None.
pub(crate) fn registered(_: &[AtomicU8], _: usize) -> Option<(usize, usize)> {
    None
}
