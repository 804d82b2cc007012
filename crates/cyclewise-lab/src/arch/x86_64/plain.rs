//! The bare read-modify-writes that elided ones are compared with, and work to hide a test in.
//!
//! Not the compiler's `+= 1`, which it may keep in a register or merge.
//!
//! # Safety
//! Each instruction reads and writes the word it is given and nothing else.
#![expect(unsafe_code, reason = "inline assembly")]

use core::arch::asm;

#[inline(always)]
pub(crate) fn inc(word: &mut u64) {
    // SAFETY: the word is ours alone. No nomem: it is memory.
    unsafe { asm!("inc qword ptr [{0}]", in(reg) word, options(nostack)) };
}

/// DEC of the word; whether that left zero.
#[inline(always)]
pub(crate) fn dec_and_test(word: &mut u64) -> bool {
    // SAFETY: the word is ours alone, and the jump leads to the block. No nomem: it is memory.
    unsafe { asm!("dec qword ptr [{0}]", "jz {1}", in(reg) word, label { return true }, options(nostack)) };
    false
}

/// INC of a word of 32 bits.
#[inline(always)]
pub(crate) fn inc32(word: &mut u32) {
    // SAFETY: the word is ours alone. No nomem: it is memory.
    unsafe { asm!("inc dword ptr [{0}]", in(reg) word, options(nostack)) };
}

/// DEC of a word of 32 bits; whether that left zero.
#[inline(always)]
pub(crate) fn dec32_and_test(word: &mut u32) -> bool {
    // SAFETY: the word is ours alone, and the jump leads to the block. No nomem: it is memory.
    unsafe { asm!("dec dword ptr [{0}]", "jz {1}", in(reg) word, label { return true }, options(nostack)) };
    false
}

/// XADD of 1; what was there.
#[inline(always)]
pub(crate) fn xadd(word: &mut u64) -> u64 {
    let mut found = 1u64;
    // SAFETY: the word is ours alone. No nomem: it is memory.
    unsafe { asm!("xadd qword ptr [{0}], {1}", in(reg) word, inout(reg) found, options(nostack)) };
    found
}

/// CMPXCHG of the word from `old` to `new`; what was there.
#[inline(always)]
pub(crate) fn cmpxchg(word: &mut u64, old: u64, new: u64) -> u64 {
    let found;
    // SAFETY: the word is ours alone. No nomem: it is memory.
    unsafe {
        asm!("cmpxchg qword ptr [{0}], {1}", in(reg) word, in(reg) new, inout("rax") old => found, options(nostack))
    };
    found
}

/// Sixty-four adds in four chains: what a function does around a test that it hardly ever takes.
#[inline(always)]
pub(crate) fn work() {
    // SAFETY: writes four registers that are named.
    unsafe {
        asm!(".rept 16", "add {0}, 1", "add {1}, 1", "add {2}, 1", "add {3}, 1", ".endr",
            inout(reg) 0u64 => _, inout(reg) 0u64 => _, inout(reg) 0u64 => _, inout(reg) 0u64 => _,
            options(nomem, nostack))
    };
}
