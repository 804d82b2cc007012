//! Restartable sequences for counters and lists. Each finds the current CPU's copy itself.
//!
//! As in the x86-64 counterpart. Here loads of the guard are acquires, and committing stores are relaxed: a thread that reads
//! what they publish is on the same CPU, has gone through the scheduler, or has stopped the CPU by a barrier.
//!
//! # Safety
//! Each function has the contract of the x86-64 function of its name.
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
