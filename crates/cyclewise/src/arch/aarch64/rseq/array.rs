//! Restartable sequences for stacks and rings of words. As in the x86-64 counterpart.
//!
//! # Safety
//! Each function has the contract of the x86-64 function of its name.
#![expect(unsafe_code, reason = "sequences that the kernel restarts")]

use super::free_list::on_this_copy;
use super::{Area, Sections, section};
use crate::arch::{AWAY, EMPTY, Id, Outcome, SHIFT};
use core::arch::asm;

#[inline(always)]
pub(crate) unsafe fn stack_push<I: Id, const N: usize>(area: Area, stacks: *mut u64, word: u64) -> Outcome {
    // SAFETY: the caller guarantees the area and the words; the first store is to a word that no other sequence reads
    // before the second.
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

#[inline(always)]
pub(crate) unsafe fn stack_pop<I: Id>(area: Area, stacks: *mut u64) -> (u64, i64) {
    let (word, left): (u64, i64);
    // SAFETY: the caller guarantees the area and the words; the last store is the commit.
    unsafe {
        on_this_copy!([
            "mov {n}, #{away}",
            "cbnz {word}, 773f",
            "ldr {n}, [{t}]",
            "subs {n}, {n}, #1", // Leaves EMPTY if there is none.
            "b.lo 773f",
            "add {word}, {t}, {n}, lsl 3",
            "ldr {word}, [{word}, #16]",
            "str {n}, [{t}]",
        ], area, stacks, "word", word = out(reg) word, n = out(reg) left, away = const AWAY, options(nostack))
    };
    const { assert!(EMPTY == -1) };
    (word, left)
}

#[inline(always)]
pub(crate) unsafe fn stack_push_many<I: Id, const N: usize>(
    area: Area,
    stacks: *mut u64,
    end: *const u64,
    len: usize,
) -> i64 {
    let run: i64;
    // SAFETY: the caller guarantees the area and the words; the last store is the commit. The sequence copies
    // and counts in scratch registers, so that a restart finds its operands unchanged.
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

#[inline(always)]
pub(crate) unsafe fn stack_pop_many<I: Id>(area: Area, stacks: *mut u64, to: *mut u64, len: usize) -> i64 {
    let run: i64;
    // SAFETY: the caller guarantees the area and the words; the last store is the commit.
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

#[inline(always)]
pub(crate) unsafe fn ring_push<I: Id, const N: usize>(area: Area, rings: *mut u64, word: u64) -> Outcome {
    // SAFETY: the caller guarantees the area and the words; the first store is to a cell that no other thread reads
    // before the second, which is a release.
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

#[inline(always)]
pub(crate) unsafe fn ring_pop<I: Id, const N: usize>(area: Area, rings: *mut u64) -> (u64, i64) {
    let (word, cell): (u64, i64);
    // SAFETY: the caller guarantees the area and the words; the store is a release, so a thread that finds the cell
    // free is ordered after the load.
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

#[inline(always)]
pub(crate) unsafe fn inc_at_index<I: Id>(area: Area, array: *const *mut u64, index: usize) {
    // SAFETY: the caller guarantees it.
    let first = unsafe { *array };
    // SAFETY: the caller guarantees the area and the words.
    unsafe { <u64 as Sections>::add::<I, false>(area, first.wrapping_add(index), 1) };
}
