//! Restartable sequences of which counters and lists are made: each finds the current CPU's copy itself.
//!
//! As of the x86-64 file of the same name. Here loads of the guard acquire, and stores that commit are relaxed: who
//! takes what they publish is on the same CPU, has been through the scheduler, or has stopped the CPU by a barrier.
//!
//! # Safety
//! As of `rseq`, for all words of the copy; they are written by such sequences alone while the guard is 0. Addresses
//! that do not belong to the copy are the caller's, valid until the sequence ends, and may be written whatever comes of
//! it.
#![expect(unsafe_code, reason = "sequences that the kernel restarts")]

use super::{Area, section};
use crate::arch::{Id, Outcome, SHIFT, STOPPED};
use core::arch::asm;

/// The beginning: `{t}` becomes the address of the CPU's copy, and `{n}` what its guard holds.
macro_rules! on_this_copy {
    ([$($step:expr),* $(,)?], $area:expr, $at:expr, $n:literal, $($operands:tt)*) => {
        section!([
            "ldr {t:w}, [{area}, {id}]",
            "add {t}, {p}, {t}, lsl {shift}",
            // Acquire: pairs with the Release that lets the CPU's own threads in again.
            concat!("add {", $n, "}, {t}, #8"),
            concat!("ldar {", $n, "}, [{", $n, "}]"),
            $($step,)*
        ], [], $area, t = out(reg) _, id = const I::AT, shift = const SHIFT, p = in(reg) $at, $($operands)*)
    };
}

pub(super) use on_this_copy;

/// Adds to a copy's first word. Returns how far that is from the second by now, and the copy's distance from slot 0's.
///
/// # Safety
/// As of the module, but that the second word is no guard: anybody may change it, atomically.
#[inline(always)]
pub(crate) unsafe fn add_and_compare<I: Id>(area: Area, at: *mut u64, value: u64) -> (u64, usize) {
    let (apart, copy): (u64, usize);
    // SAFETY: the caller vouches for the area and the words; the store is the commit, and what follows is a load.
    unsafe {
        section!([
            "ldr {t:w}, [{area}, {id}]",
            "add {t}, {p}, {t}, lsl {shift}",
            "ldr {sum}, [{t}]",
            "add {sum}, {sum}, {v}",
            "str {sum}, [{t}]",
        ], ["ldr {other}, [{t}, #8]", "sub {sum}, {sum}, {other}"], area, t = out(reg) copy, sum = out(reg) apart,
            other = out(reg) _, id = const I::AT, shift = const SHIFT, p = in(reg) at, v = in(reg) value, options(nostack))
    };
    (apart, copy.wrapping_sub(at.addr()))
}

/// Takes the first node off a list: a copy's first word is its address, 0 where there is none, and a node's first word
/// the next one's. Returns the word, or [`STOPPED`].
///
/// # Safety
/// As of the module, and so for all below; a word that is not 0 is the address of a node.
#[inline(always)]
pub(crate) unsafe fn list_pop<I: Id>(area: Area, lists: *mut u64) -> u64 {
    let first: u64;
    // SAFETY: the caller vouches for the area and the words; the store is the commit.
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

/// Puts a run of nodes on a list, the last of which leads to what was there.
///
/// # Safety
/// `first` is the address of the first node, and `last` the first word of the last; all are the caller's.
#[inline(always)]
pub(crate) unsafe fn list_push<I: Id>(area: Area, lists: *mut u64, first: u64, last: *mut u64) -> Outcome {
    // SAFETY: the caller vouches for the area and the words; the first store is to the caller's own node.
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

/// Takes all that a list has. Returns the first word, or [`STOPPED`].
///
/// # Safety
/// As of the module.
#[inline(always)]
pub(crate) unsafe fn list_take<I: Id>(area: Area, lists: *mut u64) -> u64 {
    let first: u64;
    // SAFETY: the caller vouches for the area and the words; the last store is the commit.
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
