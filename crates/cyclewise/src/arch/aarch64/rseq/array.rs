//! Restartable sequences for stacks and rings of words. Otherwise as `free_list`.
//!
//! # Safety
//! The contract of `free_list`.
#![expect(unsafe_code, reason = "sequences that the kernel restarts")]

use super::free_list::on_this_copy;
use super::{Area, Sections, section};
use crate::arch::{AWAY, EMPTY, Id, Outcome, SHIFT};
use core::arch::asm;

/// Pushes a word on a stack of `N`: a copy's first word is the number of words, and the third is the bottom one.
/// Returns [`Outcome::Ne`] if the stack is full.
///
/// # Safety
/// The module's contract, the same for all below; the copy has 2 + `N` words, and the first is at most `N`.
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

/// Pops a word from a stack. Returns it and the number of words left: [`EMPTY`] if there was none, [`AWAY`] if the
/// guard is set.
///
/// # Safety
/// As above.
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

/// Pushes as many words on a stack as fit: the last of the `len` words before `end`, in their order. Returns how many,
/// or [`AWAY`].
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

/// Pops up to `len` words to `to`, in the order in which they were pushed. Returns how many, or [`AWAY`].
///
/// # Safety
/// As above; `to` has room for `len` words, and may be written whatever the outcome.
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

/// Puts a word in a ring of `N`, a power of two: a copy's first word counts the words taken, its third the words put
/// in, and the cells follow. Returns [`Outcome::Ne`] if the ring is full.
///
/// # Safety
/// The module's contract, the same for the next; the copy has 3 + `N` words, and the third is at most `N` more than the
/// first.
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

/// Takes the oldest word from a ring. Returns it and its cell's number: [`EMPTY`] if there was none, [`AWAY`] if the
/// guard is set.
///
/// # Safety
/// As above.
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

/// Adds one to the word `index` of an array; `*array` is the copy of id 0.
///
/// # Safety
/// The contract of `rseq` for that word; `array` is valid meanwhile.
#[cfg(feature = "percpu-histogram")]
#[inline(always)]
pub(crate) unsafe fn inc_at_index<I: Id>(area: Area, array: *const *mut u64, index: usize) {
    // SAFETY: the caller guarantees it.
    let first = unsafe { *array };
    // SAFETY: the caller guarantees the area and the words.
    unsafe { <u64 as Sections>::add::<I, false>(area, first.wrapping_add(index), 1) };
}
