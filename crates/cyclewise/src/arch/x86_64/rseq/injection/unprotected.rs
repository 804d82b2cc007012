//! Twins broken on purpose: steps of sequences with their points, without a descriptor.
//!
//! # Safety
//! What each function says, and the trap is handled.
#![expect(unsafe_code, reason = "the steps of a sequence without its descriptor")]

use super::inject;
use core::arch::asm;

/// A twin broken on purpose: a load and a store with point 4 between them, without a descriptor.
///
/// # Safety
/// The word is valid, and the trap is handled.
pub(crate) unsafe fn add(at: *mut u64) {
    // SAFETY: the caller guarantees the words, and that the trap is handled.
    unsafe {
        asm!(
            "mov {t}, qword ptr [{p}]",
            inject!("4"),
            "add {t}, 1",
            "mov qword ptr [{p}], {t}",
            t = out(reg) _,
            p = in(reg) at,
        )
    }
}

/// A twin broken on purpose: the steps of [`add_below`](crate::arch::rseq::free_list::add_below), without a descriptor.
///
/// # Safety
/// The two words are the caller's, and the trap is handled.
pub(crate) unsafe fn add_below(at: *mut u64, value: u64) {
    // SAFETY: the caller guarantees the words, and that the trap is handled.
    unsafe {
        asm!(
            "mov {sum}, {v}",
            "add {sum}, qword ptr [{p}]",
            "cmp dword ptr [{p} + 8], {sum:e}",
            "js 776f",
            inject!("4"),
            "mov qword ptr [{p}], {sum}",
            "776:",
            p = in(reg) at, v = in(reg) value, sum = out(reg) _,
        )
    }
}

/// A twin broken on purpose: the steps of a push on a stack, without a descriptor.
///
/// # Safety
/// The words of a stack with room for one more, and the trap is handled.
pub(crate) unsafe fn push(stack: *mut u64, word: u64) {
    // SAFETY: the caller guarantees the words, and that the trap is handled.
    unsafe {
        asm!(
            "mov {n}, qword ptr [{t}]",
            inject!("4"),
            "mov qword ptr [{t} + 8*{n} + 16], {word}",
            "inc {n}",
            inject!("5"),
            "mov qword ptr [{t}], {n}",
            t = in(reg) stack, word = in(reg) word, n = out(reg) _,
        )
    }
}
