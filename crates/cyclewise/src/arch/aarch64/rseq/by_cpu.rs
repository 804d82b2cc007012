//! Restartable sequences of several steps on one CPU's words, as in the x86-64 counterpart.
//!
//! # Safety
//! Each function has the contract of the x86-64 function of its name.
#![expect(unsafe_code, reason = "sequences that the kernel restarts")]

use super::{Area, section, sequence};
use crate::arch::{Id, Outcome};
use core::arch::asm;

/// The prologue of every sequence here: checks the CPU and the guard.
macro_rules! on_cpu {
    ([$($step:expr),* $(,)?], $area:expr, $cpu:expr, $guard:expr, $($operands:tt)*) => {
        sequence!([
            "ldr {t:w}, [{area}, {id}]",
            "cmp {t:w}, {cpu:w}",
            "b.ne {moved}",
            // Acquire: pairs with the Release that lets the CPU's own threads continue.
            "ldar {t}, [{guard}]",
            "cbnz {t}, {stopped}",
            $($step,)*
        ], $area, id = const I::AT, cpu = in(reg) $cpu, guard = in(reg) $guard,
            moved = label { return Outcome::Moved }, stopped = label { return Outcome::Stopped }, $($operands)*)
    };
}

/// The same, committed by a store of `new` to `v`, a release if the first argument is true.
macro_rules! on_cpu_then_store {
    ($release:ident, [$($step:expr),* $(,)?], $($operands:tt)*) => {
        if $release {
            // SAFETY: the caller guarantees the area and the words; the last instruction is the commit.
            unsafe { on_cpu!([$($step,)* "stlr {new}, [{v}]"], $($operands)*) }
        } else {
            // SAFETY: the caller guarantees the area and the words; the last store is the commit.
            unsafe { on_cpu!([$($step,)* "str {new}, [{v}]"], $($operands)*) }
        }
    };
}

#[inline(always)]
pub(crate) unsafe fn load_cbne_store<I: Id, const RELEASE: bool>(
    area: Area,
    cpu: u32,
    guard: *const u64,
    v: *mut u64,
    expect: u64,
    new: u64,
) -> Outcome {
    on_cpu_then_store!(RELEASE, [
        "ldr {t}, [{v}]",
        "cmp {t}, {expect}",
        "b.ne {ne}",
    ], area, cpu, guard, v = in(reg) v, expect = in(reg) expect, new = in(reg) new,
        ne = label { return Outcome::Ne }, options(nostack));
    Outcome::Done
}

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
        on_cpu!([
            "ldr {t}, [{v}]",
            "add {t}, {t}, {count}",
            "str {t}, [{v}]",
        ], area, cpu, guard, v = in(reg) v, count = in(reg) count, options(nostack))
    }
    Outcome::Done
}

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
            "ldr {t}, [{v}]",
            "cmp {t}, {not}",
            "b.eq {ne}",
            "str {t}, [{load}]",
            "ldr {t}, [{t}, {offset}]",
            "str {t}, [{v}]",
        ], area, cpu, guard, v = in(reg) v, not = in(reg) not, offset = in(reg) offset, load = in(reg) load,
            ne = label { return Outcome::Ne }, options(nostack))
    }
    Outcome::Done
}

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
            "ldr {t}, [{at}]",
            "ldr {t}, [{t}, {offset}]",
            "ldr {word}, [{t}]",
            "add {word}, {word}, {count}",
            "str {word}, [{t}]",
        ], area, cpu, guard, at = in(reg) at, offset = in(reg) offset, count = in(reg) count, word = out(reg) _,
            options(nostack))
    }
    Outcome::Done
}

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
    on_cpu_then_store!(RELEASE, [
        "ldr {t}, [{v}]",
        "cmp {t}, {expect}",
        "b.ne {ne}",
        "str {new2}, [{v2}]",
    ], area, cpu, guard, v = in(reg) v, expect = in(reg) expect, v2 = in(reg) v2, new2 = in(reg) new2,
        new = in(reg) new, ne = label { return Outcome::Ne }, options(nostack));
    Outcome::Done
}

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
            "ldr {t}, [{v}]",
            "cmp {t}, {expect}",
            "b.ne {ne}",
            "ldr {t}, [{v2}]",
            "cmp {t}, {expect2}",
            "b.ne {ne}",
            "str {new}, [{v}]",
        ], area, cpu, guard, v = in(reg) v, expect = in(reg) expect, v2 = in(reg) v2, expect2 = in(reg) expect2,
            new = in(reg) new, ne = label { return Outcome::Ne }, options(nostack))
    }
    Outcome::Done
}

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
    // The sequence counts and copies in scratch registers, so that a restart finds its operands unchanged.
    on_cpu_then_store!(RELEASE, [
        "ldr {t}, [{v}]",
        "cmp {t}, {expect}",
        "b.ne {ne}",
        "mov {t}, xzr",
        "775:",
        "cmp {t}, {len}",
        "b.hs 776f",
        "ldr {word}, [{src}, {t}, lsl #3]",
        "str {word}, [{dst}, {t}, lsl #3]",
        "add {t}, {t}, #1",
        "b 775b",
        "776:",
    ], area, cpu, guard, v = in(reg) v, expect = in(reg) expect, dst = in(reg) dst, src = in(reg) src,
        len = in(reg) len, new = in(reg) new, word = out(reg) _,
        ne = label { return Outcome::Ne }, options(nostack));
    Outcome::Done
}
