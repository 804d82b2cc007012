//! Restartable sequences for counters and lists. Each finds the current CPU's copy itself.
//!
//! So no address computed before a sequence can be another CPU's when it runs, and callers never retry. A sequence
//! returns its result in a register or jumps to labels, because stable `asm!` does not combine labels with outputs.
//!
//! A copy's second word is its guard, 0 or 1, by which another thread can stop the CPU's own threads.
//!
//! # Safety
//! The contract of `rseq`, for all words of the copy. Only such sequences write them while the guard is 0. Other
//! addresses belong to the caller, are valid until the sequence ends, and may be written whatever the outcome.
#![expect(unsafe_code, reason = "sequences that the kernel restarts")]

use super::injection::inject;
use super::{Area, on_this_cpu, section, sequence};
use crate::arch::{Id, Outcome, SHIFT, STOPPED};
use core::arch::asm;

/// The prologue: `{t}` becomes the address of the CPU's copy.
macro_rules! on_this_copy {
    ([$($step:expr),* $(,)?], $area:expr, $at:expr, $($operands:tt)*) => {
        section!([
            "mov {t:e}, dword ptr fs:[{area} + {id}]",
            inject!("2"),
            "shl {t}, {shift}",
            "add {t}, {p}",
            inject!("3"),
            $($step,)*
        ], [], $area, t = out(reg) _, id = const I::AT, shift = const SHIFT, p = in(reg) $at, $($operands)*)
    };
}

pub(super) use on_this_copy;

/// Adds an amount of 0 to 2^30 to a copy's first word if the sum's lower half is not above the lower half of the second
/// word: not above modulo 2^32, where the two are less than 2^31 apart. Otherwise returns [`Outcome::Ne`].
///
/// # Safety
/// The module's contract, except that the second word is no guard; the same for the next.
#[inline(always)]
pub(crate) unsafe fn add_below<I: Id>(area: Area, at: *mut u64, value: u64) -> Outcome {
    // SAFETY: the caller guarantees the area and the words; the last store is the commit.
    unsafe {
        on_this_cpu!([
            "mov {sum}, {v}",
            "add {sum}, qword ptr [{p} + {t}]",
            "cmp dword ptr [{p} + {t} + 8], {sum:e}",
            "js {ne}",
            inject!("4"),
            "mov qword ptr [{p} + {t}], {sum}",
        ], area, p = in(reg) at, v = in(reg) value, sum = out(reg) _,
            ne = label { return Outcome::Ne }, options(nostack))
    }
    Outcome::Done
}

/// As [`add_below`] for an amount of -2^30 to 0, if the sum is not below the upper half of the second word.
///
/// # Safety
/// As above.
#[inline(always)]
pub(crate) unsafe fn add_above<I: Id>(area: Area, at: *mut u64, value: u64) -> Outcome {
    // SAFETY: the caller guarantees the area and the words; the last store is the commit.
    unsafe {
        on_this_cpu!([
            "mov {sum}, {v}",
            "add {sum}, qword ptr [{p} + {t}]",
            "cmp {sum:e}, dword ptr [{p} + {t} + 12]",
            "js {ne}",
            inject!("4"),
            "mov qword ptr [{p} + {t}], {sum}",
        ], area, p = in(reg) at, v = in(reg) value, sum = out(reg) _,
            ne = label { return Outcome::Ne }, options(nostack))
    }
    Outcome::Done
}

/// Adds to a copy's first word while a guard elsewhere is 0.
///
/// # Safety
/// The module's contract for the first word; the guard is a word that is valid meanwhile.
#[inline(always)]
pub(crate) unsafe fn add_if_open<I: Id>(area: Area, guard: *const u64, at: *mut u64, value: u64) -> Outcome {
    // SAFETY: the caller guarantees the area and the words; the store is the commit.
    unsafe {
        on_this_cpu!([
            "cmp qword ptr [{guard}], 0",
            "jne {stopped}",
            inject!("4"),
            "add qword ptr [{p} + {t}], {v}",
        ], area, p = in(reg) at, v = in(reg) value, guard = in(reg) guard,
            stopped = label { return Outcome::Stopped }, options(nostack))
    }
    Outcome::Done
}

/// Pops the first node of a list: a copy's first word is its address or 0, and a node's first word is the next node's.
/// Returns the copy's word, or [`STOPPED`].
///
/// # Safety
/// The module's contract, the same for all below; a word that is not 0 is the address of a node.
#[inline(always)]
pub(crate) unsafe fn list_pop<I: Id>(area: Area, lists: *mut u64) -> u64 {
    let first: u64;
    // SAFETY: the caller guarantees the area and the words; the store is the commit.
    unsafe {
        on_this_copy!([
            "mov {first}, qword ptr [{t} + 8]", // The guard; 1 is STOPPED.
            "test {first}, {first}",
            "jne 773f",
            "mov {first}, qword ptr [{t}]",
            "test {first}, {first}",
            "je 773f",
            inject!("4"),
            "mov {next}, qword ptr [{first}]",
            inject!("5"),
            "mov qword ptr [{t}], {next}",
        ], area, lists, first = out(reg) first, next = out(reg) _, options(nostack))
    };
    first
}

/// Pushes a chain of nodes on a list, and links its last node to the previous first.
///
/// # Safety
/// `first` is the address of the first node, and `last` the first word of the last; all nodes belong to the caller.
#[inline(always)]
pub(crate) unsafe fn list_push<I: Id>(area: Area, lists: *mut u64, first: u64, last: *mut u64) -> Outcome {
    // SAFETY: the caller guarantees the area and the words; the first store is to the caller's own node.
    unsafe {
        on_this_copy!([
            "cmp qword ptr [{t} + 8], 0",
            "jne {stopped}",
            "mov {next}, qword ptr [{t}]",
            inject!("4"),
            "mov qword ptr [{last}], {next}",
            inject!("5"),
            "mov qword ptr [{t}], {first}",
        ], area, lists, first = in(reg) first, last = in(reg) last, next = out(reg) _,
            stopped = label { return Outcome::Stopped }, options(nostack))
    }
    Outcome::Done
}

/// Takes all nodes of a list. Returns the copy's first word, or [`STOPPED`].
///
/// # Safety
/// The module's contract.
#[inline(always)]
pub(crate) unsafe fn list_take<I: Id>(area: Area, lists: *mut u64) -> u64 {
    let first: u64;
    // SAFETY: the caller guarantees the area and the words; the last store is the commit.
    unsafe {
        on_this_copy!([
            "mov {first}, qword ptr [{t} + 8]", // The guard; 1 is STOPPED.
            "test {first}, {first}",
            "jne 773f",
            "mov {first}, qword ptr [{t}]",
            inject!("4"),
            "mov qword ptr [{t}], 0",
        ], area, lists, first = out(reg) first, options(nostack))
    };
    const { assert!(STOPPED == 1) };
    first
}
