//! Restartable sequences of several steps on one CPU's words, under the names of their pseudo-code.
//!
//! The caller names the CPU, because it computed addresses for that CPU. Each sequence first compares the CPU, then
//! checks a guard word, by which another thread can stop the CPU's own threads.
//!
//! # References
//! librseq, for the names.
//!
//! # Safety
//! The contract of `rseq`. Every address is valid until the sequence ends for the use that its name implies. `v`, `v2`
//! and `dst` are words or bytes of the named CPU, written only by such sequences while the guard is 0.
#![expect(unsafe_code, reason = "sequences that the kernel restarts")]

use super::injection::inject;
use super::{Area, section, sequence};
use crate::arch::{Id, Outcome};
use core::arch::asm;

/// The prologue of every sequence here: checks the CPU and the guard.
macro_rules! on_cpu {
    ([$($step:expr),* $(,)?], $area:expr, $cpu:expr, $guard:expr, $($operands:tt)*) => {
        sequence!([
            "cmp dword ptr fs:[{area} + {id}], {cpu:e}",
            "jne {moved}",
            inject!("2"),
            "cmp qword ptr [{guard}], 0",
            "jne {stopped}",
            inject!("3"),
            $($step,)*
        ], $area, id = const I::AT, cpu = in(reg) $cpu, guard = in(reg) $guard,
            moved = label { return Outcome::Moved }, stopped = label { return Outcome::Stopped }, $($operands)*)
    };
}

/// If `*v == expect`, `*v = new`.
///
/// # Safety
/// The module's contract; the same for all below.
#[inline(always)]
pub(crate) unsafe fn load_cbne_store<I: Id, const RELEASE: bool>(
    area: Area,
    cpu: u32,
    guard: *const u64,
    v: *mut u64,
    expect: u64,
    new: u64,
) -> Outcome {
    // SAFETY: the caller guarantees the area and the words; the last store is the commit.
    unsafe {
        on_cpu!([
            "cmp qword ptr [{v}], {expect}",
            "jne {ne}",
            inject!("4"),
            "mov qword ptr [{v}], {new}",
        ], area, cpu, guard, v = in(reg) v, expect = in(reg) expect, new = in(reg) new,
            ne = label { return Outcome::Ne }, options(nostack))
    }
    Outcome::Done
}

/// `*v += count`.
///
/// # Safety
/// The module's contract.
#[inline(always)]
pub(crate) unsafe fn load_add_store<I: Id>(
    area: Area,
    cpu: u32,
    guard: *const u64,
    v: *mut u64,
    count: u64,
) -> Outcome {
    // SAFETY: the caller guarantees the area and the words; the last store is the commit.
    unsafe {
        on_cpu!(["add qword ptr [{v}], {count}"], area, cpu, guard,
            v = in(reg) v, count = in(reg) count, options(nostack))
    }
    Outcome::Done
}

/// Pops: if `*v != not`, `*load = *v`, and `*v` becomes the word at `*v + offset`.
///
/// # Safety
/// The module's contract; if `*v` is not `not`, it is the address of a node with a word at `offset`;
/// `load` belongs to the caller.
#[inline(always)]
pub(crate) unsafe fn load_cbeq_store_add_load_store<I: Id>(
    area: Area,
    cpu: u32,
    guard: *const u64,
    v: *mut u64,
    not: u64,
    offset: isize,
    load: *mut u64,
) -> Outcome {
    // SAFETY: the caller guarantees the area and the words; the first store is to the caller's own word.
    unsafe {
        on_cpu!([
            "mov {t}, qword ptr [{v}]",
            "cmp {t}, {not}",
            "je {ne}",
            inject!("4"),
            "mov qword ptr [{load}], {t}",
            inject!("5"),
            "mov {t}, qword ptr [{t} + {offset}]",
            inject!("6"),
            "mov qword ptr [{v}], {t}",
        ], area, cpu, guard, v = in(reg) v, not = in(reg) not, offset = in(reg) offset, load = in(reg) load,
            ne = label { return Outcome::Ne }, options(nostack))
    }
    Outcome::Done
}

/// `*(*(*at + offset)) += count`: through a pointer in the table that `*at` points to.
///
/// # Safety
/// The module's contract; `*at + offset` holds the address of a word of the named CPU.
#[inline(always)]
pub(crate) unsafe fn load_add_load_load_add_store<I: Id>(
    area: Area,
    cpu: u32,
    guard: *const u64,
    at: *const u64,
    offset: isize,
    count: u64,
) -> Outcome {
    // SAFETY: the caller guarantees the area and the words; the last store is the commit.
    unsafe {
        on_cpu!([
            "mov {t}, qword ptr [{at}]",
            inject!("4"),
            "mov {t}, qword ptr [{t} + {offset}]",
            inject!("5"),
            "add qword ptr [{t}], {count}",
        ], area, cpu, guard, at = in(reg) at, offset = in(reg) offset, count = in(reg) count, options(nostack))
    }
    Outcome::Done
}

/// If `*v == expect`, `*v2 = new2`, then `*v = new`.
///
/// # Safety
/// The module's contract; `*v2` may be written even if the outcome is [`Outcome::Ne`].
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "the operands of the sequence")]
pub(crate) unsafe fn load_cbne_store_store<I: Id, const RELEASE: bool>(
    area: Area,
    cpu: u32,
    guard: *const u64,
    v: *mut u64,
    expect: u64,
    v2: *mut u64,
    new2: u64,
    new: u64,
) -> Outcome {
    // SAFETY: the caller guarantees the area and the words; the last store is the commit.
    unsafe {
        on_cpu!([
            "cmp qword ptr [{v}], {expect}",
            "jne {ne}",
            inject!("4"),
            "mov qword ptr [{v2}], {new2}",
            inject!("5"),
            "mov qword ptr [{v}], {new}",
        ], area, cpu, guard, v = in(reg) v, expect = in(reg) expect, v2 = in(reg) v2, new2 = in(reg) new2,
            new = in(reg) new, ne = label { return Outcome::Ne }, options(nostack))
    }
    Outcome::Done
}

/// If `*v == expect` and `*v2 == expect2`, `*v = new`.
///
/// # Safety
/// The module's contract.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "the operands of the sequence")]
pub(crate) unsafe fn load_cbne_load_cbne_store<I: Id>(
    area: Area,
    cpu: u32,
    guard: *const u64,
    v: *mut u64,
    expect: u64,
    v2: *const u64,
    expect2: u64,
    new: u64,
) -> Outcome {
    // SAFETY: the caller guarantees the area and the words; the last store is the commit.
    unsafe {
        on_cpu!([
            "cmp qword ptr [{v}], {expect}",
            "jne {ne}",
            inject!("4"),
            "cmp qword ptr [{v2}], {expect2}",
            "jne {ne}",
            inject!("5"),
            "mov qword ptr [{v}], {new}",
        ], area, cpu, guard, v = in(reg) v, expect = in(reg) expect, v2 = in(reg) v2, expect2 = in(reg) expect2,
            new = in(reg) new, ne = label { return Outcome::Ne }, options(nostack))
    }
    Outcome::Done
}

/// If `*v == expect`, copies `len` words from `src` to `dst`, then `*v = new`.
///
/// # Safety
/// The module's contract; the ranges do not overlap. `*dst` may be written even if the outcome is [`Outcome::Ne`].
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "the operands of the sequence")]
pub(crate) unsafe fn load_cbne_memcpy_store<I: Id, const RELEASE: bool>(
    area: Area,
    cpu: u32,
    guard: *const u64,
    v: *mut u64,
    expect: u64,
    dst: *mut u64,
    src: *const u64,
    len: usize,
    new: u64,
) -> Outcome {
    // SAFETY: the caller guarantees the area and the words; the last store is the commit. The sequence counts
    // and copies in scratch registers, so that a restart finds its operands unchanged.
    unsafe {
        on_cpu!([
            "cmp qword ptr [{v}], {expect}",
            "jne {ne}",
            inject!("4"),
            "xor {t:e}, {t:e}",
            "775:",
            "cmp {t}, {len}",
            "jae 776f",
            "mov {word}, qword ptr [{src} + 8*{t}]",
            "mov qword ptr [{dst} + 8*{t}], {word}",
            inject!("5"),
            "inc {t}",
            "jmp 775b",
            "776:",
            inject!("6"),
            "mov qword ptr [{v}], {new}",
        ], area, cpu, guard, v = in(reg) v, expect = in(reg) expect, dst = in(reg) dst, src = in(reg) src,
            len = in(reg) len, new = in(reg) new, word = out(reg) _,
            ne = label { return Outcome::Ne }, options(nostack))
    }
    Outcome::Done
}
