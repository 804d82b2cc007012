//! Restartable sequences of which counters and lists are made: each finds the current CPU's copy itself.
//!
//! So there is nothing to compute before the first instruction, nothing that could be another CPU's by then, and
//! nothing to try again. What a sequence has found comes back in a register; a way out of a sequence has no room for
//! both a label and a result.
//!
//! A copy's second word is its guard, 0 or 1, through which a stranger can keep the CPU's own threads out.
//!
//! # Safety
//! As of `rseq`, for all words of the copy; they are written by such sequences alone while the guard is 0. Addresses
//! that do not belong to the copy are the caller's, valid until the sequence ends, and may be written whatever comes of
//! it.
#![expect(unsafe_code, reason = "sequences that the kernel restarts")]

use super::{Area, inject, section};
use crate::arch::{Id, Outcome, SHIFT, STOPPED};
use core::arch::asm;

/// The beginning: `{t}` becomes the address of the CPU's copy.
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

/// Adds to a copy's first word. Returns how far that is from the second by now, and the copy's distance from slot 0's.
///
/// # Safety
/// As of the module, but that the second word is no guard: anybody may change it, atomically.
#[inline(always)]
pub(crate) unsafe fn add_and_compare<I: Id>(area: Area, at: *mut u64, value: u64) -> (u64, usize) {
    let (apart, distance);
    // SAFETY: the caller vouches for the area and the words; the store is the commit, and what follows is a load.
    unsafe {
        section!([
            "mov {t:e}, dword ptr fs:[{area} + {id}]",
            inject!("2"),
            "shl {t}, {shift}",
            inject!("3"),
            "mov {sum}, {v}",
            "add {sum}, qword ptr [{p} + {t}]",
            inject!("4"),
            "mov qword ptr [{p} + {t}], {sum}",
        ], ["sub {sum}, qword ptr [{p} + {t} + 8]"], area, t = out(reg) distance, sum = out(reg) apart,
            id = const I::AT, shift = const SHIFT, p = in(reg) at, v = in(reg) value, options(nostack))
    };
    (apart, distance)
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

/// Puts a run of nodes on a list, the last of which leads to what was there.
///
/// # Safety
/// `first` is the address of the first node, and `last` the first word of the last; all are the caller's.
#[inline(always)]
pub(crate) unsafe fn list_push<I: Id>(area: Area, lists: *mut u64, first: u64, last: *mut u64) -> Outcome {
    // SAFETY: the caller vouches for the area and the words; the first store is to the caller's own node.
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
