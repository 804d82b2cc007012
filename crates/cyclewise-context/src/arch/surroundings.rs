//! The code around an operation: additions, loads, stores, a branch.
//!
//! Additions add a register: since Golden Cove additions of small immediates vanish at rename. No block has `nomem` or
//! `pure`, so that the compiler keeps all of them, in order, and moves no access of the operation over them.
//!
//! # References
//! Intel SDM vol. 2, CLFLUSH; AMD APM vol. 3, the same. Arm ARM (DDI 0487): DC CIVAC, which Linux allows user space (SCTLR_EL1.UCI):
//! it writes the line back and drops it to the point of coherency.
//!
//! # Safety
//! 1. The instructions write the registers named, and touch the memory that the caller answers for.
#![expect(unsafe_code, reason = "inline assembly")]

use core::arch::asm;

/// An instruction's text; `at` is an address with the displacement of an `.irp k`.
#[cfg(target_arch = "x86_64")]
macro_rules! text {
    (add $x:literal) => {
        concat!("add {", $x, "}, {one}")
    };
    (load $to:literal, $p:literal) => {
        concat!("mov {", $to, "}, qword ptr [{", $p, "}]")
    };
    (load $to:literal at $p:literal) => {
        concat!("mov {", $to, "}, qword ptr [{", $p, "} + \\k]")
    };
    (store $v:literal, $p:literal) => {
        concat!("mov qword ptr [{", $p, "}], {", $v, "}")
    };
    (store $v:literal at $p:literal) => {
        concat!("mov qword ptr [{", $p, "} + \\k], {", $v, "}")
    };
    (load_byte) => {
        "movzx {t:e}, byte ptr [{table} + {i}]"
    };
    (mask) => {
        "and {i}, {mask}"
    };
    (skip_if_even) => {
        "test {t:e}, {t:e}\njz 2f"
    };
    (evict) => {
        "clflush byte ptr [{line}]"
    };
    (finish_evictions) => {
        "mfence"
    };
}

/// An instruction's text; `at` is an address with the displacement of an `.irp k`.
#[cfg(target_arch = "aarch64")]
macro_rules! text {
    (add $x:literal) => {
        concat!("add {", $x, "}, {", $x, "}, {one}")
    };
    (load $to:literal, $p:literal) => {
        concat!("ldr {", $to, "}, [{", $p, "}]")
    };
    (load $to:literal at $p:literal) => {
        concat!("ldr {", $to, "}, [{", $p, "}, #\\k]")
    };
    (store $v:literal, $p:literal) => {
        concat!("str {", $v, "}, [{", $p, "}]")
    };
    (store $v:literal at $p:literal) => {
        concat!("str {", $v, "}, [{", $p, "}, #\\k]")
    };
    (load_byte) => {
        "ldrb {t:w}, [{table}, {i}]"
    };
    (mask) => {
        "and {i}, {i}, #{mask}"
    };
    (skip_if_even) => {
        "tbz {t:w}, #0, 2f"
    };
    (evict) => {
        "dc civac, {line}"
    };
    (finish_evictions) => {
        "dsb ish"
    };
}

/// The same number, hidden from the compiler.
#[inline(always)]
pub(crate) fn opaque(n: u64) -> u64 {
    let mut out = n;
    // SAFETY: no instruction.
    unsafe { asm!("/* {0} */", inout(reg) out, options(nostack, preserves_flags)) };
    out
}

/// `N` additions, each of which waits for the one before.
#[inline(always)]
pub(crate) fn adds<const N: usize>(x: &mut u64, one: u64) {
    // SAFETY: Invariant 1.
    unsafe {
        asm!(".rept {n}", text!(add "x"), ".endr", n = const N, x = inout(reg) *x, one = in(reg) one, options(nostack))
    };
}

/// `N` additions in each of four chains.
#[inline(always)]
pub(crate) fn adds_in_4_chains<const N: usize>(x: &mut [u64; 4], one: u64) {
    let [a, b, c, d] = x;
    // SAFETY: Invariant 1.
    unsafe {
        asm!(".rept {n}", text!(add "a"), text!(add "b"), text!(add "c"), text!(add "d"), ".endr",
            n = const N, a = inout(reg) *a, b = inout(reg) *b, c = inout(reg) *c, d = inout(reg) *d, one = in(reg) one,
            options(nostack))
    };
}

/// `N` loads, the address of each being what the one before has loaded.
///
/// # Safety
/// `p` is the address of a word that holds the address of such a word.
#[inline(always)]
pub(crate) unsafe fn follow<const N: usize>(p: &mut *const usize) {
    // SAFETY: the caller's promise.
    unsafe {
        asm!(".rept {n}", text!(load "p", "p"), ".endr", n = const N, p = inout(reg) *p, options(nostack, preserves_flags))
    };
}

/// A load.
///
/// # Safety
/// The word is there.
#[inline(always)]
pub(crate) unsafe fn load(word: *const usize) {
    // SAFETY: the caller's promise.
    unsafe { asm!(text!(load "t", "w"), t = out(reg) _, w = in(reg) word, options(nostack, preserves_flags)) };
}

/// Loads of 32 words.
///
/// # Safety
/// They are there.
#[inline(always)]
pub(crate) unsafe fn load_32(words: *const u64) {
    // SAFETY: the caller's promise.
    unsafe {
        asm!(".irp k, 0,8,16,24,32,40,48,56,64,72,80,88,96,104,112,120,128,136,144,152,160,168,176,184,192,200,208,216,224,232,240,248",
            text!(load "t" at "w"), ".endr", t = out(reg) _, w = in(reg) words, options(nostack, preserves_flags))
    };
}

/// Stores to sixteen words in four lines, line by line in turn.
///
/// # Safety
/// They are there, and nobody else's.
#[inline(always)]
pub(crate) unsafe fn store_16(words: *mut u64, value: u64) {
    // SAFETY: the caller's promise.
    unsafe {
        asm!(".irp k, 0,64,128,192,8,72,136,200,16,80,144,208,24,88,152,216",
            text!(store "v" at "w"), ".endr", v = in(reg) value, w = in(reg) words, options(nostack, preserves_flags))
    };
}

/// Eight times: a load, an addition and a store of the word, and three additions that wait for none of it.
///
/// # Safety
/// The word is there, and nobody else's.
#[inline(always)]
pub(crate) unsafe fn load_add_store_8(word: *mut u64, beside: &mut [u64; 3], one: u64) {
    let [a, b, c] = beside;
    // SAFETY: the caller's promise.
    unsafe {
        asm!(".rept 8", text!(load "t", "w"), text!(add "t"), text!(store "t", "w"),
            text!(add "a"), text!(add "b"), text!(add "c"), ".endr",
            t = out(reg) _, w = in(reg) word, one = in(reg) one, a = inout(reg) *a, b = inout(reg) *b, c = inout(reg) *c,
            options(nostack))
    };
}

/// An addition that is jumped over where the byte at `index` is even; then the next index below `LENGTH`, a power of two.
///
/// # Safety
/// The table has `LENGTH` bytes, and `index` is below.
#[inline(always)]
pub(crate) unsafe fn branch<const LENGTH: usize>(table: *const u8, index: &mut u64, sum: &mut u64, one: u64) {
    // SAFETY: the caller's promise.
    unsafe {
        asm!(text!(load_byte), text!(add "i"), text!(mask), text!(skip_if_even), text!(add "sum"), "2:",
            t = out(reg) _, table = in(reg) table, i = inout(reg) *index, mask = const LENGTH - 1, sum = inout(reg) *sum,
            one = in(reg) one, options(nostack))
    };
}

/// Drops the line from every cache.
///
/// # Safety
/// The address is mapped.
pub(crate) unsafe fn evict(line: *const usize) {
    // SAFETY: the caller's promise.
    unsafe { asm!(text!(evict), line = in(reg) line, options(nostack, preserves_flags)) };
}

/// Waits for evictions.
pub(crate) fn finish_evictions() {
    // SAFETY: a fence.
    unsafe { asm!(text!(finish_evictions), options(nostack, preserves_flags)) };
}
