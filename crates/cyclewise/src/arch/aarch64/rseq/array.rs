//! Restartable sequences on words in cells: stacks and rings. Otherwise as `free_list`.
//!
//! # Safety
//! As of `free_list`.
#![expect(unsafe_code, reason = "sequences that the kernel restarts")]

use super::free_list::on_this_copy;
use super::{Area, section};
use crate::arch::{AWAY, EMPTY, Id, Outcome, SHIFT};
use core::arch::asm;

/// Puts a word on a stack of `N`: a copy's first word is how many there are, and they begin with the third. The outcome
/// is [`Outcome::Ne`] where it is full.
///
/// # Safety
/// As of the module, and so for all below; the copy has 2 + `N` words, and the first is at most `N`.
#[inline(always)]
pub(crate) unsafe fn stack_push<I: Id, const N: usize>(area: Area, stacks: *mut u64, word: u64) -> Outcome {
    // SAFETY: the caller vouches for the area and the words; the first store is to a word that is nobody's until the
    // second.
    unsafe {
        on_this_copy!([
            "cbnz {n}, {stopped}",
            "ldr {n}, [{t}]",
            "cmp {n}, {size}",
            "b.hs {full}",
            "add {to}, {t}, {n}, lsl 3",
            "str {word}, [{to}, #16]",
            "add {n}, {n}, #1",
            "str {n}, [{t}]",
        ], area, stacks, "n", word = in(reg) word, n = out(reg) _, to = out(reg) _, size = in(reg) N,
            full = label { return Outcome::Ne }, stopped = label { return Outcome::Stopped }, options(nostack))
    }
    Outcome::Done
}

/// Takes the word on top of a stack. Returns it and how many are left: [`EMPTY`] where there was none, [`AWAY`] where
/// the guard is set.
///
/// # Safety
/// As above.
#[inline(always)]
pub(crate) unsafe fn stack_pop<I: Id>(area: Area, stacks: *mut u64) -> (u64, i64) {
    let (word, left): (u64, i64);
    // SAFETY: the caller vouches for the area and the words; the last store is the commit.
    unsafe {
        on_this_copy!([
            "mov {n}, #{away}",
            "cbnz {word}, 773f",
            "ldr {n}, [{t}]",
            "subs {n}, {n}, #1", // Leaves EMPTY where there is none.
            "b.lo 773f",
            "add {word}, {t}, {n}, lsl 3",
            "ldr {word}, [{word}, #16]",
            "str {n}, [{t}]",
        ], area, stacks, "word", word = out(reg) word, n = out(reg) left, away = const AWAY, options(nostack))
    };
    const { assert!(EMPTY == -1) };
    (word, left)
}

/// Puts as many words on a stack as there is room for, from the last of `len` before `end` on towards the first, in
/// their order. Returns how many, or [`AWAY`].
///
/// # Safety
/// As above; there are `len` words before `end`.
#[inline(always)]
pub(crate) unsafe fn stack_push_many<I: Id, const N: usize>(
    area: Area,
    stacks: *mut u64,
    end: *const u64,
    len: usize,
) -> i64 {
    let run: i64;
    // SAFETY: the caller vouches for the area and the words; the last store is the commit. Registers of its own carry
    // and count, so that a restart finds the operands as they were.
    unsafe {
        on_this_copy!([
            "mov {run}, #{away}",
            "cbnz {n}, 773f",
            "ldr {n}, [{t}]",
            "sub {run}, {size}, {n}",
            "cmp {run}, {len}",
            "csel {run}, {len}, {run}, hi",
            "add {n}, {n}, {run}",
            "add {to}, {t}, {n}, lsl 3",
            "mov {from}, {end}",
            "mov {left}, {run}",
            "cbz {left}, 776f",
            "775:",
            "ldr {word}, [{from}, #-8]!",
            "str {word}, [{to}, #8]",
            "sub {to}, {to}, #8",
            "sub {left}, {left}, #1",
            "cbnz {left}, 775b",
            "776:",
            "str {n}, [{t}]",
        ], area, stacks, "n", end = in(reg) end, len = in(reg) len, run = out(reg) run, n = out(reg) _, left = out(reg) _,
            from = out(reg) _, to = out(reg) _, word = out(reg) _, size = in(reg) N, away = const AWAY, options(nostack))
    };
    run
}

/// Takes as many words as there are and fit, in the order in which they were put there. Returns how many, or [`AWAY`].
///
/// # Safety
/// As above; `to` has room for `len` words, and may be written whatever comes of it.
#[inline(always)]
pub(crate) unsafe fn stack_pop_many<I: Id>(area: Area, stacks: *mut u64, to: *mut u64, len: usize) -> i64 {
    let run: i64;
    // SAFETY: the caller vouches for the area and the words; the last store is the commit.
    unsafe {
        on_this_copy!([
            "mov {run}, #{away}",
            "cbnz {n}, 773f",
            "ldr {n}, [{t}]",
            "cmp {n}, {len}",
            "csel {run}, {len}, {n}, hi",
            "sub {n}, {n}, {run}",
            "add {from}, {t}, {n}, lsl 3",
            "mov {dst}, {to}",
            "mov {left}, {run}",
            "cbz {left}, 776f",
            "775:",
            "ldr {word}, [{from}, #16]",
            "add {from}, {from}, #8",
            "str {word}, [{dst}], #8",
            "sub {left}, {left}, #1",
            "cbnz {left}, 775b",
            "776:",
            "str {n}, [{t}]",
        ], area, stacks, "n", to = in(reg) to, len = in(reg) len, run = out(reg) run, n = out(reg) _, left = out(reg) _,
            from = out(reg) _, dst = out(reg) _, word = out(reg) _, away = const AWAY, options(nostack))
    };
    run
}

/// Puts a word in a ring of `N`, a power of two: a copy's first word counts what was taken, its third what was put in,
/// and the cells follow. The outcome is [`Outcome::Ne`] where it is full.
///
/// # Safety
/// As of the module, and so for the next; the copy has 3 + `N` words, and the third is at most `N` more than the first.
#[inline(always)]
pub(crate) unsafe fn ring_push<I: Id, const N: usize>(area: Area, rings: *mut u64, word: u64) -> Outcome {
    // SAFETY: the caller vouches for the area and the words; the first store is to a cell that is nobody's until the
    // second, which is a release.
    unsafe {
        on_this_copy!([
            "cbnz {n}, {stopped}",
            "ldr {n}, [{t}, #16]",
            "ldr {cell}, [{t}]",
            "sub {cell}, {n}, {cell}",
            "cmp {cell}, {mask}",
            "b.hi {full}",
            "and {cell}, {n}, {mask}",
            "add {cell}, {t}, {cell}, lsl 3",
            "str {word}, [{cell}, #24]",
            "add {n}, {n}, #1",
            "add {cell}, {t}, #16",
            "stlr {n}, [{cell}]",
        ], area, rings, "n", word = in(reg) word, n = out(reg) _, cell = out(reg) _, mask = in(reg) N - 1,
            full = label { return Outcome::Ne }, stopped = label { return Outcome::Stopped }, options(nostack))
    }
    Outcome::Done
}

/// Takes the oldest word from a ring. Returns it and its cell's number: [`EMPTY`] where there was none, [`AWAY`] where
/// the guard is set.
///
/// # Safety
/// As above.
#[inline(always)]
pub(crate) unsafe fn ring_pop<I: Id, const N: usize>(area: Area, rings: *mut u64) -> (u64, i64) {
    let (word, cell): (u64, i64);
    // SAFETY: the caller vouches for the area and the words; the store is a release, so that who finds the cell free
    // comes after the load.
    unsafe {
        on_this_copy!([
            "mov {cell}, #{away}",
            "cbnz {n}, 773f",
            "ldr {n}, [{t}]",
            "ldr {word}, [{t}, #16]",
            "mov {cell}, #{empty}",
            "cmp {n}, {word}",
            "b.eq 773f",
            "and {cell}, {n}, {mask}",
            "add {word}, {t}, {cell}, lsl 3",
            "ldr {word}, [{word}, #24]",
            "add {n}, {n}, #1",
            "stlr {n}, [{t}]",
        ], area, rings, "n", word = out(reg) word, cell = out(reg) cell, n = out(reg) _, mask = in(reg) N - 1,
            empty = const EMPTY, away = const AWAY, options(nostack))
    };
    (word, cell)
}
