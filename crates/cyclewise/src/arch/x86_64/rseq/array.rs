//! Restartable sequences for stacks and rings of words. Otherwise as `free_list`.
//!
//! # Safety
//! The contract of `free_list`.
#![expect(unsafe_code, reason = "sequences that the kernel restarts")]

use super::free_list::on_this_copy;
use super::injection::inject;
use super::{Area, section};
use super::{on_this_cpu, sequence};
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
            "cmp qword ptr [{t} + 8], 0",
            "jne {stopped}",
            "mov {n}, qword ptr [{t}]",
            "cmp {n}, {size}",
            "jae {full}",
            inject!("4"),
            "mov qword ptr [{t} + 8*{n} + 16], {word}",
            "inc {n}",
            inject!("5"),
            "mov qword ptr [{t}], {n}",
        ], area, stacks, word = in(reg) word, n = out(reg) _, size = const N,
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
            "mov {n}, {away}",
            "cmp qword ptr [{t} + 8], 0",
            "jne 773f",
            "mov {n}, qword ptr [{t}]",
            "sub {n}, 1", // Leaves EMPTY if there is none.
            "jb 773f",
            inject!("4"),
            "mov {word}, qword ptr [{t} + 8*{n} + 16]",
            inject!("5"),
            "mov qword ptr [{t}], {n}",
        ], area, stacks, word = out(reg) word, n = out(reg) left, away = const AWAY, options(nostack))
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
            "mov {run}, {away}",
            "cmp qword ptr [{t} + 8], 0",
            "jne 773f",
            "mov {n}, qword ptr [{t}]",
            "mov {run:e}, {size}",
            "sub {run}, {n}",
            "cmp {run}, {len}",
            "cmova {run}, {len}",
            inject!("4"),
            "add {n}, {run}",
            "xor {left:e}, {left:e}",
            "sub {left}, {run}",
            "lea {to}, [{t} + 8*{n} + 16]",
            "je 776f",
            "test {left}, 1",
            "je 775f",
            "mov {word}, qword ptr [{end} + 8*{left}]",
            "mov qword ptr [{to} + 8*{left}], {word}",
            "inc {left}",
            "je 776f",
            "775:",
            "movups {two}, xmmword ptr [{end} + 8*{left}]",
            "movups xmmword ptr [{to} + 8*{left}], {two}",
            inject!("5"),
            "add {left}, 2",
            "jne 775b",
            "776:",
            inject!("6"),
            "mov qword ptr [{t}], {n}",
        ], area, stacks, end = in(reg) end, len = in(reg) len, run = out(reg) run, n = out(reg) _, left = out(reg) _,
            to = out(reg) _, word = out(reg) _, two = out(xmm_reg) _, size = const N, away = const AWAY, options(nostack))
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
            "mov {run}, {away}",
            "cmp qword ptr [{t} + 8], 0",
            "jne 773f",
            "mov {n}, qword ptr [{t}]",
            "mov {run}, {n}",
            "cmp {run}, {len}",
            "cmova {run}, {len}",
            inject!("4"),
            "sub {n}, {run}",
            "lea {from}, [{t} + 8*{n} + 16]",
            "mov {left}, {run}",
            "test {left}, {left}",
            "je 776f",
            "test {left}, 1",
            "je 775f",
            "mov {word}, qword ptr [{from} + 8*{left} - 8]",
            "mov qword ptr [{to} + 8*{left} - 8], {word}",
            "dec {left}",
            "je 776f",
            "775:",
            "movups {two}, xmmword ptr [{from} + 8*{left} - 16]",
            "movups xmmword ptr [{to} + 8*{left} - 16], {two}",
            inject!("5"),
            "sub {left}, 2",
            "jne 775b",
            "776:",
            inject!("6"),
            "mov qword ptr [{t}], {n}",
        ], area, stacks, to = in(reg) to, len = in(reg) len, run = out(reg) run, n = out(reg) _, left = out(reg) _,
            from = out(reg) _, word = out(reg) _, two = out(xmm_reg) _, away = const AWAY, options(nostack))
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
            "cmp qword ptr [{t} + 8], 0",
            "jne {stopped}",
            "mov {n}, qword ptr [{t} + 16]",
            "mov {cell}, {n}",
            "sub {cell}, qword ptr [{t}]",
            "cmp {cell}, {size}",
            "jae {full}",
            inject!("4"),
            "mov {cell:e}, {n:e}",
            "and {cell:e}, {size} - 1",
            "mov qword ptr [{t} + 8*{cell} + 24], {word}",
            "inc {n}",
            inject!("5"),
            "mov qword ptr [{t} + 16], {n}",
        ], area, rings, word = in(reg) word, n = out(reg) _, cell = out(reg) _, size = const N,
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
    // SAFETY: the caller guarantees the area and the words; the last store is the commit.
    unsafe {
        on_this_copy!([
            "mov {cell}, {away}",
            "cmp qword ptr [{t} + 8], 0",
            "jne 773f",
            "mov {n}, qword ptr [{t}]",
            "mov {cell}, {empty}",
            "cmp {n}, qword ptr [{t} + 16]",
            "je 773f",
            inject!("4"),
            "mov {cell:e}, {n:e}",
            "and {cell:e}, {size} - 1",
            "mov {word}, qword ptr [{t} + 8*{cell} + 24]",
            "inc {n}",
            inject!("5"),
            "mov qword ptr [{t}], {n}",
        ], area, rings, word = out(reg) word, cell = out(reg) cell, n = out(reg) _, size = const N,
            empty = const EMPTY, away = const AWAY, options(nostack))
    };
    (word, cell)
}

/// Adds one to the word `index` of an array; `*array` is the copy of id 0.
///
/// # Safety
/// The contract of `rseq` for that word; `array` is valid meanwhile.
#[inline(always)]
pub(crate) unsafe fn inc_at_index<I: Id>(area: Area, array: *const *mut u64, index: usize) {
    // SAFETY: the caller guarantees the area and the words; the last instruction is the commit.
    unsafe {
        on_this_cpu!([
            "add {t}, qword ptr [{array}]",
            "add qword ptr [{t} + 8*{index}], 1",
        ], area, array = in(reg) array, index = in(reg) index, options(nostack))
    }
}
