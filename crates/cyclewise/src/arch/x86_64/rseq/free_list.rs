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

use super::{Area, inject, section};
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

/// Adds to a copy's first word. Returns the sum minus the second word, loaded after the commit, and the copy's distance
/// from slot 0's.
///
/// # Safety
/// The module's contract, except that the second word is not a guard: any thread may change it atomically.
#[inline(always)]
pub(crate) unsafe fn add_and_compare<I: Id>(area: Area, at: *mut u64, value: u64) -> (u64, usize) {
    let (apart, distance);
    // SAFETY: the caller guarantees the area and the words; the store is the commit, and a load follows it.
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
