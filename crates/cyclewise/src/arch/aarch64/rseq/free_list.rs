//! Restartable sequences for counters and lists. Each finds the current CPU's copy itself.
//!
//! As in the x86-64 twin. Here loads of the guard are acquires, and committing stores are relaxed: a thread that reads
//! what they publish is on the same CPU, has gone through the scheduler, or has stopped the CPU by a barrier.
//!
//! # Safety
//! The contract of `rseq`, for all words of the copy. Only such sequences write them while the guard is 0. Other
//! addresses belong to the caller, are valid until the sequence ends, and may be written whatever the outcome.
#![expect(unsafe_code, reason = "sequences that the kernel restarts")]

use super::{Area, section};
use crate::arch::{Id, Outcome, SHIFT, STOPPED};
use core::arch::asm;

/// The prologue: `{t}` becomes the address of the CPU's copy, and `{n}` the value of its guard.
macro_rules! on_this_copy {
    ([$($step:expr),* $(,)?], $area:expr, $at:expr, $n:literal, $($operands:tt)*) => {
        section!([
            "ldr {t:w}, [{area}, {id}]",
            "add {t}, {p}, {t}, lsl {shift}",
            // Acquire: pairs with the Release that lets the CPU's own threads continue.
            concat!("add {", $n, "}, {t}, #8"),
            concat!("ldar {", $n, "}, [{", $n, "}]"),
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
    // SAFETY: the caller guarantees the area and the words; the store is the commit.
    unsafe {
        section!([
            "ldr {t:w}, [{area}, {id}]",
            "add {t}, {p}, {t}, lsl {shift}",
            "ldr {sum}, [{t}]",
            "add {sum}, {sum}, {v}",
            "ldr {bound:w}, [{t}, {offset}]",
            "subs {bound:w}, {bound:w}, {sum:w}",
            "b.mi {ne}",
            "str {sum}, [{t}]",
        ], [], area, t = out(reg) _, sum = out(reg) _, bound = out(reg) _, id = const I::AT, shift = const SHIFT,
            offset = const LOWER_HALF, p = in(reg) at, v = in(reg) value,
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
    // SAFETY: the caller guarantees the area and the words; the store is the commit.
    unsafe {
        section!([
            "ldr {t:w}, [{area}, {id}]",
            "add {t}, {p}, {t}, lsl {shift}",
            "ldr {sum}, [{t}]",
            "add {sum}, {sum}, {v}",
            "ldr {bound:w}, [{t}, {offset}]",
            "subs {bound:w}, {sum:w}, {bound:w}",
            "b.mi {ne}",
            "str {sum}, [{t}]",
        ], [], area, t = out(reg) _, sum = out(reg) _, bound = out(reg) _, id = const I::AT, shift = const SHIFT,
            offset = const UPPER_HALF, p = in(reg) at, v = in(reg) value,
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
        section!([
            "ldr {t:w}, [{area}, {id}]",
            "add {t}, {p}, {t}, lsl {shift}",
            // Acquire: pairs with the Release that opens the guard.
            "ldar {sum}, [{guard}]",
            "cbnz {sum}, {stopped}",
            "ldr {sum}, [{t}]",
            "add {sum}, {sum}, {v}",
            "str {sum}, [{t}]",
        ], [], area, t = out(reg) _, sum = out(reg) _, id = const I::AT, shift = const SHIFT, p = in(reg) at,
            v = in(reg) value, guard = in(reg) guard, stopped = label { return Outcome::Stopped }, options(nostack))
    }
    Outcome::Done
}

/// The offsets of the lower and the upper half of a copy's second word.
const LOWER_HALF: usize = if cfg!(target_endian = "little") { 8 } else { 12 };
const UPPER_HALF: usize = 20 - LOWER_HALF;

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
            "cbnz {first}, 773f", // 1 is STOPPED.
            "ldr {first}, [{t}]",
            "cbz {first}, 773f",
            "ldr {next}, [{first}]",
            "str {next}, [{t}]",
        ], area, lists, "first", first = out(reg) first, next = out(reg) _, options(nostack))
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
            "cbnz {next}, {stopped}",
            "ldr {next}, [{t}]",
            "str {next}, [{last}]",
            "str {first}, [{t}]",
        ], area, lists, "next", first = in(reg) first, last = in(reg) last, next = out(reg) _,
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
            "cbnz {first}, 773f", // 1 is STOPPED.
            "ldr {first}, [{t}]",
            "str xzr, [{t}]",
        ], area, lists, "first", first = out(reg) first, options(nostack))
    };
    const { assert!(STOPPED == 1) };
    first
}
